"""The command line on a terminal: Ctrl-C ends it without a stack trace or a file, errors have a colour there alone."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from hra import samples
from hra.cli.command_line import coloured
from tests.helpers.command import run_hra

pty = pytest.importorskip("pty")
_HRA = [sys.executable, "-c", "from hra.cli import main; main()"]


def on_a_terminal(folder: Path, *arguments: object, interrupt: bool = False) -> tuple[str, int]:
    """What ``hra`` shows on a terminal, and how it ends; Ctrl-C is typed as soon as it shows anything."""
    process, terminal = pty.fork()
    if not process:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.execv(sys.executable, [*_HRA, *map(str, arguments)])
    shown = b""
    while part := _read(terminal):
        if interrupt and not shown:
            os.write(terminal, b"\x03")
        shown += part
    return shown.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so where others return nothing
        return b""


def test_ctrl_c_leaves_neither_a_file_nor_a_stack_trace(tmp_path):
    command = ("mesh", "build", samples.path("skull.ply"), "-o", "skull.hra")
    shown, code = on_a_terminal(tmp_path, *command, interrupt=True)
    assert code in (130, -signal.SIGINT), shown
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


def test_errors_are_coloured_on_a_terminal(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown, code = on_a_terminal(tmp_path, "nothing")
    assert code == 2 and "\x1b[31m\x1b[1merror\x1b[0m: no such command 'nothing'" in shown


def test_errors_in_a_pipe_are_plain(capsys):
    assert run_hra("nothing") == 2
    assert "\x1b" not in capsys.readouterr().err


def test_colours_are_left_out_where_nobody_wants_them(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("error: what: how\nfix: this") == "error: what: how\nfix: this"
    monkeypatch.delenv("NO_COLOR")
    assert coloured("error: what: how").endswith(": what: how")


@pytest.mark.parametrize(("typed", "found"), [("hra mesh ch", "check"), ("hra mesh cut --tri", "--triangles")])
def test_the_shell_completes_commands_and_options(monkeypatch, capsys, typed, found):
    for name, value in (("_HRA_COMPLETE", "complete_bash"), ("COMP_WORDS", typed)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert run_hra() == 0
    assert found in capsys.readouterr().out.split()
