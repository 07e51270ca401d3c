from tests.conftest import Box


def test_the_demo_shows_four_ends_and_leaves_nothing_behind(box: Box) -> None:
    done = box("demo")
    assert done.code == 0, done
    states = [line.split()[2] for line in done.out.splitlines() if line[:8].strip().endswith("s") and "." in line[:8]]
    assert states == ["completed", "failed", "stuck", "completed"]
    assert "Processes left of all four: 0" in done.out
