"""Homes in which every first question of an agent is answered before it is asked, unless a test wants to see it.

One function per agent: it writes the agent's own files into the home, where they are not there already, and says how
to start it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.lab.installs import Install
from tests.lab.keeper import PORT
from tests.lab.server.__main__ import key

BASE = f"http://127.0.0.1:{PORT}"

CLAUDE_HOOKS = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "PostToolBatch", "PermissionRequest", "PermissionDenied", "Notification", "Stop", "StopFailure",
    "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
)  # fmt: skip
CODEX_HOOKS = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop",
    "Interrupt", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
)  # fmt: skip
GEMINI_HOOKS = (
    "SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeModel", "BeforeTool", "AfterTool", "Notification",
)  # fmt: skip

_CODEX_DAEMON = (0, 160, 0)
"""From about here on Codex works in a daemon unless told not to."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How a session is to be started."""

    options: Sequence[str] = ()
    """Arguments after the program's name."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Merged into the agent's settings file (Codex: its config.toml; a dotted key is a path)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of the pane's shell."""
    trusted: bool = True
    """Whether the question for trust in the project directory is answered already."""
    onboarded: bool = True
    """Whether the questions of the very first start (theme, key, login) are answered already."""
    oauth: bool = False
    """Claude: a subscription's token in place of an API key; only so it knows plan limits."""
    hooks: str = ""
    """Command that every hook event calls, EVENT standing for its name; payload on stdin. Empty: no hooks."""
    plugin: str = ""
    """OpenCode: text of a plugin in place of the lab's own, which calls that command."""
    statusline: str = ""
    """Claude: command of a custom status line."""
    refresh: int = 0
    """Claude: seconds between runs of the status line; 0 leaves it to events."""


@dataclass(frozen=True)
class Place:
    home: Path
    cwd: Path
    install: Install

    @property
    def key(self) -> str:
        """The dummy key belongs to the home: an agent is asked once whether it is right."""
        return key(self.home.name)


@dataclass(frozen=True)
class Launch:
    argv: list[str]
    env: dict[str, str]
    prompt: str
    """What the screen shows, as a regular expression, once the agent takes a prompt."""
    answers: tuple[tuple[str, str], ...] = ()
    """Questions that come before it and cannot be answered ahead, each with the keys that answer it."""


def claude(place: Place, wish: Wish) -> Launch:
    secret = place.key
    state: dict[str, Any] = {"projects": {}}
    if wish.onboarded:
        state |= {"hasCompletedOnboarding": True, "theme": "dark", "hasSeenAutoDefaultNudge": True}
        state["customApiKeyResponses"] = {"approved": [secret[-20:]], "rejected": []}
    if wish.trusted:
        accepted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
        state["projects"][str(place.cwd)] = accepted
    # By default newer ones let the model judge every tool call, and ask nobody.
    settings: dict[str, Any] = {"permissions": {"defaultMode": "default"}}
    if wish.statusline:
        settings["statusLine"] = {"type": "command", "command": wish.statusline}
        if wish.refresh:
            settings["statusLine"]["refreshInterval"] = wish.refresh
    if wish.hooks:
        settings["hooks"] = _hooks(CLAUDE_HOOKS, wish.hooks, timeout=10)
    _write_json(place.home / ".claude.json", state)
    _write_json(place.home / ".claude/settings.json", _merge(settings, wish.settings))
    secret_name = "CLAUDE_CODE_OAUTH_TOKEN" if wish.oauth else "ANTHROPIC_API_KEY"
    env = {
        "ANTHROPIC_BASE_URL": BASE, secret_name: secret, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }  # fmt: skip
    return Launch(["claude"], env, r"(?m)^─{10,}[^─\n]*─*\n❯")  # noqa: RUF001


def codex(place: Place, wish: Wish, *, daemon: bool = True) -> Launch:
    provider = {
        "name": "fake", "base_url": f"{BASE}/v1", "wire_api": "responses", "env_key": "FAKE_API_KEY",
        "request_max_retries": 2, "stream_max_retries": 2, "stream_idle_timeout_ms": 300000,
    }  # fmt: skip
    config: dict[str, Any] = {
        "model": "gpt-5.1-codex", "model_provider": "fake", "check_for_update_on_startup": False,
        "analytics": {"enabled": False}, "model_providers": {"fake": provider},
        # Else its sandbox makes directories in /tmp to mount upon, and leaves them there when it is killed.
        "sandbox_workspace_write": {"exclude_slash_tmp": True},
    }  # fmt: skip
    if wish.trusted:
        config |= {"approval_policy": "on-request", "sandbox_mode": "workspace-write"}
        config["projects"] = {str(place.cwd): {"trust_level": "trusted"}}
    else:  # from 0.169 on it asks only in a repository, or where the folder has settings of its own
        _write(place.cwd / ".codex/config.toml", 'model_reasoning_effort = "low"\n')
    has_daemon = tuple(map(int, place.install.version.split("."))) >= _CODEX_DAEMON
    daemon = daemon and has_daemon
    argv = ["codex"] if daemon or not has_daemon else ["codex", "--no-daemon"]
    answers: tuple[tuple[str, str], ...] = ()
    if wish.hooks:
        _write_json(place.home / ".codex/hooks.json", {"hooks": _hooks(CODEX_HOOKS, wish.hooks, timeout=3)})
        if not daemon and wish.trusted:
            argv.append("--dangerously-bypass-hook-trust")
        elif wish.trusted:
            answers = (("Hooks need review", "2 Enter"),)
    for path, value in wish.settings.items():
        nested: Any = value
        for part in reversed(path.split(".")):
            nested = {part: nested}
        config = _merge(config, nested)
    _write(place.home / ".codex/config.toml", "".join(_toml(config)))
    # The prompt is there from the start, but as long as the lines of the banner say so, older versions lose an Enter.
    loading = r">_ OpenAI Codex.*\n(?:.*\n){0,3}?.*\bloading\b"
    prompt = rf"(?m)\A(?![\s\S]*{loading})[\s\S]*^› (?!\d)"  # noqa: RUF001
    return Launch(argv, {"FAKE_API_KEY": place.key}, prompt, answers)


def codex_nodaemon(place: Place, wish: Wish) -> Launch:
    return codex(place, wish, daemon=False)


def opencode(place: Place, wish: Wish) -> Launch:
    model = {
        "name": "Fake Model", "limit": {"context": 200000, "output": 8192}, "tool_call": True, "reasoning": True,
    }  # fmt: skip
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Fake", "models": {"fake-model": model},
        "options": {"baseURL": f"{BASE}/v1", "apiKey": place.key},
    }  # fmt: skip
    settings = {
        "autoupdate": False, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
        "enabled_providers": ["fake"], "permission": {"bash": "ask", "edit": "ask"}, "provider": {"fake": provider},
    }  # fmt: skip
    config = place.home / ".config/opencode"
    _write_json(config / "opencode.json", _merge(settings, wish.settings))
    # With a plugin there, OpenCode installs this package at start, unless package and lock file say that it is here.
    needs = {"dependencies": {"@opencode-ai/plugin": place.install.version}}
    _write_json(config / "package.json", needs)
    _write_json(config / "package-lock.json", {"lockfileVersion": 3, "packages": {"": needs}})
    if not (config / "node_modules").exists():
        (config / "node_modules").symlink_to(place.install.modules)
    if wish.plugin:
        _write(config / "plugins/given.js", wish.plugin)
    elif wish.hooks:
        _write(config / "plugins/lab.js", _PLUGIN.replace("COMMAND", json.dumps(wish.hooks.removesuffix(" EVENT"))))
    env = dict.fromkeys(
        (
            "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ),
        "1",
    )  # fmt: skip
    return Launch(["opencode"], env, r"Ask anything")


def gemini(place: Place, wish: Wish) -> Launch:
    settings: dict[str, Any] = {
        "security": {"folderTrust": {"enabled": True}}, "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False}, "model": {"name": "gemini-2.5-flash"}, "ui": {"hideTips": True},
        "general": {
            "enableAutoUpdate": False, "enableAutoUpdateNotification": False, "disableAutoUpdate": True,
            "disableUpdateNag": True,
        },
    }  # fmt: skip
    if wish.onboarded:
        settings["security"]["auth"] = {"selectedType": "gemini-api-key"}
    if wish.hooks:
        settings["hooks"] = _hooks(GEMINI_HOOKS, wish.hooks, timeout=5000)
    _write_json(place.home / ".gemini/settings.json", _merge(settings, wish.settings))
    if wish.trusted:
        _write_json(place.home / ".gemini/trustedFolders.json", {str(place.cwd): "TRUST_FOLDER"})
    return Launch(["gemini"], {"GEMINI_API_KEY": place.key, "GOOGLE_GEMINI_BASE_URL": BASE}, r"Type your message")


def qwen(place: Place, wish: Wish) -> Launch:
    settings: dict[str, Any] = {
        "$version": 3, "security": {"folderTrust": {"enabled": not wish.trusted}}, "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False}, "model": {"name": "fake-model"},
        # Else it talks to the model by itself after every turn.
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "ui": {"enableFollowupSuggestions": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "disableUpdateNag": True},
        # By default newer ones let the model judge every tool call. The ripgrep in the package cannot be started, and a
        # notice with its path would stand on every screen.
        "tools": {"approvalMode": "default", "useRipgrep": False},
    }  # fmt: skip
    if wish.onboarded:
        settings["security"]["auth"] = {"selectedType": "openai"}
    _write_json(place.home / ".qwen/settings.json", _merge(settings, wish.settings))
    env = {"OPENAI_API_KEY": place.key, "OPENAI_BASE_URL": f"{BASE}/v1", "OPENAI_MODEL": "fake-model"}
    return Launch(["qwen"], env, r"Type your message")


AGENTS: dict[str, Callable[[Place, Wish], Launch]] = {
    "claude": claude, "codex": codex, "codex-nodaemon": codex_nodaemon, "opencode": opencode, "gemini": gemini,
    "qwen": qwen,
}  # fmt: skip

# Hands every event of the bus to the hook command, as the other agents do with theirs.
_PLUGIN = """import { spawnSync } from "child_process"
export const Lab = async () => ({
  event: async ({ event }) => {
    spawnSync("/bin/sh", ["-c", COMMAND + ' "$0"', event.type], { input: JSON.stringify(event) })
  },
})
"""


def _hooks(events: Sequence[str], command: str, *, timeout: int) -> dict[str, Any]:
    return {
        event: [
            {
                "matcher": "*",
                "hooks": [{"type": "command", "command": command.replace("EVENT", event), "timeout": timeout}],
            }
        ]
        for event in events
    }


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _merge(merged[name], value) if both else value
    return merged


def _toml(table: Mapping[str, Any], path: str = "") -> list[str]:
    """Every value on a line of its own, under its full name: JSON's scalars and lists are TOML's too."""
    lines = []
    for name, value in table.items():
        full = path + json.dumps(name)
        lines += _toml(value, full + ".") if isinstance(value, Mapping) else [f"{full} = {json.dumps(value)}\n"]
    return lines


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    _write(path, json.dumps(content, indent=1))


def _write(path: Path, content: str) -> None:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
