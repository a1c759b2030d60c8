"""Every example script runs, one of them in a process of its own as a user runs it, and prints what it promises."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from hra.errors import HraWarning

ROOT = Path(__file__).parents[2]
EXPECTED = {
    "build_a_hierarchy_of_points.py": r"over 1584303 nodes.*5,000 of 5,000 points.*50,000 of 50,000 points",
    "build_a_hierarchy_of_tokens.py": r"\(8, 4096, 768\) merged to \(8, 5461, 768\).*273 tokens: 271 used",
    "lazy_gigapixel.py": r"1,466,015,503,701 tiles.*4,096 of 4,096 tokens.*20 at most",
    "mesh_lod.py": r"of 10,000 triangles.*one pixel of error takes [\d,]+ triangles.*Hull: .*BestFirst: .*Threshold: ",
    "mesh_lod_chain.py": r"4,\d+ triangles: no point farther than [\d.]+ mm.*5 files of .*3 m: level 3",
    "plot_anisotropic_tokens.py": r"text say\?': {.*'0 degrees': 70.*highest\?': {.*'90 degrees': 70",
    "plot_attention_and_visibility.py": r"each pixel alike: 3\d.\d dB.*visibility as attention: [34]\d.\d dB",
    "plot_certified_error.py": r"0.25 px: [\d,]+ triangles, at most [\d.]+ mm promised, [\d.]+ mm found.*4 px: ",
    "plot_cluster_dag.py": r"3,000 triangles: \d+ of 806 groups refined.*12,000 triangles: \d+ of 806",
    "plot_foveated_mesh_and_tokens.py": r"gaze on the teeth: [\d,]+ of 4,000 triangles.*a fixation: 273 tokens, \d+%",
    "plot_question_relevance.py": r"total\? level [\d.]+ at 70.83.*customer\? level [\d.]+ at M. Okafor",
    "plot_semantic_atlas.py": r"in proportion: 273 tokens, [\d.]+ dB, heuristic.*certified: 273 tokens.*optimal",
    "plot_temporal_coherence.py": r"hull: \d+ changes.*hysteresis 0.3: \d+ changes.*at most 10 changes: \d+ changes",
    "plot_token_bank.py": r"evenly: \[100, 100, 100, 100\] tokens.*bank: .* 400 in all, residual 0.01",
    "plot_hiz_two_domains.py": r"[\d,]+ houses hidden, [\d,]+ of 9,216 patches pruned",
    "plot_mesh_importance.py": r"2,000 triangles without the map: [\d.]+ px there.*with the map: [01]\.\d+ px there",
    "plot_mesh_budgets.py": r"[\d,]+ of 40,000 triangles: [\d.]+ px.*of 1,000 triangles: [\d.]+ px, at most .* missed",
    "plot_mesh_error_curves.py": r"all in view, clusters, budget: [\d.]+ px.*close up, discrete chain: [\d.]+ px",
    "plot_mesh_zoom.py": r"discrete chain, 0.5 px: largest pop [\d.]+%.*budget, hysteresis: largest pop [\d.]+%",
    "plot_points.py": r"20%: [\d,]+ of 4,252 points.*1%: [\d,]+ of 212 points",
    "plot_render_and_stream.py": r"in the frustum are drawn: 8\d% saved.*4 pages a frame: FLIP 0.0\d+ after",
    "plot_texture_feedback.py": r"mean wanted level: [\d.]+ drawn, [\d.]+ by rays; 40 frames, peak [\d,]+ of 3,145,728",
    "plot_texture_views.py": r"by texel error: .* dB, FLIP .*by detail error: .* dB.*uniform mip bias: .* dB, FLIP",
    "plot_video_tokens.py": r"stands, tree: .*384 tokens 0\n.*stands, evs: .*pans, tree: .*192 tokens 12.*pans, random",
    "plot_token_methods.py": r"grid: 273 tokens.*pyramid: 273 tokens.*semantic-tree: 273 tokens",
    "texture_streaming.py": r"40 frames, peak [\d,]+ of 2,097,152 bytes.*frame 25 with 2 MiB: [\d.]+ dB",
    "texture_streamer.py": r"finest level 0.*at most 3,1[\d,]+ of 3,145,728 bytes at any moment; 0 pages missing",
    "token_allocation.py": r"PyramidSampling: 273 of 273 tokens.*GridTopK: 273 of 273 tokens.*uniform: .* dB",
    "train_through_a_hierarchy.py": r"step 0: 0.7\d* of.*step 60: 0.4\d* of.*images: 0.4\d*, the best cuts leave 0.4",
    "vlm_tokens.py": r"pyramid +16 visual tokens, prompt +21.*divprune +64 visual tokens.*prefill / +1.0",
    "write_a_domain.py": r"1,000 of 1,000 steps.*distance 0.0\d+, with equal steps 1.9",
    "write_a_traversal.py": r"keeps its promises.*64 of 130 tokens.*130 of 130 tokens.*the best possible",
    "shared_budget.py": r"1.25 MiB: mesh takes \d+ %, residual .* px2 \(fixed halves: .* px2\)",
}


def test_every_script_is_listed_and_short():
    scripts = sorted((ROOT / "examples").glob("*.py"))
    assert {script.name for script in scripts} == set(EXPECTED)
    assert all(len(script.read_text("utf-8").splitlines()) < 75 for script in scripts)


# Written as somebody would who has only the public surface.
BY_STRANGERS = (
    "mesh_lod_chain.py",
    "texture_streamer.py",
    "train_through_a_hierarchy.py",
    "write_a_domain.py",
    "write_a_traversal.py",
)
PUBLIC = {"hra", "hra.testing", "hra.domains", "numpy", "matplotlib.figure", "torch", "dataclasses", "pathlib", "sys"}


@pytest.mark.parametrize("name", BY_STRANGERS)
def test_a_stranger_needs_the_public_surface_alone(name: str):
    tree = ast.parse((ROOT / "examples" / name).read_text("utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= PUBLIC
    assert not re.search(r"\b(hra|meshes|textures)\.[\w.]*\b_\w", ast.unparse(tree)), "a private name"


# PYTHONWARNINGS would not do: it is read before hra can be imported, and a category that cannot be found is ignored.
WARNINGS_ARE_ERRORS = """
import runpy, sys, warnings
from hra.errors import HraWarning
warnings.simplefilter("error", HraWarning)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
NEEDS_GL = {"mesh_lod.py", "plot_attention_and_visibility.py", "plot_certified_error.py", "plot_cluster_dag.py"}
NEEDS_GL |= {"plot_foveated_mesh_and_tokens.py", "plot_render_and_stream.py"}
NEEDS_GL |= {"plot_mesh_budgets.py", "plot_mesh_importance.py", "plot_mesh_zoom.py", "plot_texture_feedback.py"}


# They take ten to forty seconds each; the gallery of the site (`make docs`) runs them as well.
SLOW = {
    "plot_anisotropic_tokens.py",
    "plot_attention_and_visibility.py",
    "plot_certified_error.py",
    "plot_cluster_dag.py",
    "plot_foveated_mesh_and_tokens.py",
    "plot_hiz_two_domains.py",
    "plot_mesh_budgets.py",
    "plot_mesh_error_curves.py",
    "plot_mesh_importance.py",
    "plot_mesh_zoom.py",
    "plot_question_relevance.py",
    "plot_render_and_stream.py",
    "plot_semantic_atlas.py",
    "plot_temporal_coherence.py",
    "plot_texture_views.py",
    "plot_token_bank.py",
    "plot_token_methods.py",
    "plot_video_tokens.py",
}


IN_A_PROCESS = "write_a_domain.py"


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.gl] * (name in NEEDS_GL) + [pytest.mark.slow] * (name in SLOW)


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in EXPECTED])
def test_script_runs_without_warnings(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    script = str(ROOT / "examples" / name)
    if name == IN_A_PROCESS:
        done = run(Path(script), tmp_path)
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    else:  # what all import takes most of the time of most
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [script, str(tmp_path)])
        with warnings.catch_warnings():
            warnings.simplefilter("error", HraWarning)
            runpy.run_path(script, run_name="__main__")
        printed = capsys.readouterr().out
    assert [path for path in tmp_path.rglob("*") if path.suffix in (".png", ".jpg")], "it draws nothing"
    assert re.search(EXPECTED[name], printed, re.DOTALL), printed


def test_a_warning_of_hra_fails_a_script(tmp_path: Path):
    script = tmp_path / "warns.py"
    script.write_text("import warnings, hra.errors; warnings.warn('less', hra.errors.EstimateWarning)")
    done = run(script, tmp_path)
    assert done.returncode == 1 and "EstimateWarning: less" in done.stderr


def run(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WARNINGS_ARE_ERRORS, script, folder]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
