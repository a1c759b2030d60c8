"""A browser for the tests of pages."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here")
    options = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as run:
        opened = run.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()
