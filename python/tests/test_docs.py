"""The snippets of the page about Python run."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def snippets() -> list[str]:
    found = re.findall(r"^```python([^\n]*)\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    return [text for marks, text in found if "no-run" not in marks]


def test_the_snippets_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numpy")
    found = snippets()
    assert len(found) >= 9
    names: dict[str, object] = {}
    for text in found:
        exec(compile(text, str(PAGE), "exec"), names)
    assert "float32" in capsys.readouterr().out
