"""What was said, kept as JSON lines for a person to read later. No secret gets in."""
from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from typing import Any

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$", re.IGNORECASE)
#: forms of well-known keys, and what follows ``Authorization: Bearer``
_FORMS = re.compile(r"\b(sk|pk|rk|ghp|gho|hf|xox[abp])[-_][A-Za-z0-9_-]{12,}|(?<=Bearer )[A-Za-z0-9._~+/=-]{8,}")
_HIDDEN = "[redacted]"


def redact(value: Any, environment: Mapping[str, str] | None = None) -> Any:
    """``value`` (JSON) without secrets: values of environment variables named like one, strings that look like one."""
    env = os.environ if environment is None else environment
    secrets = sorted({v for k, v in env.items() if _NAMES.search(k) and len(v) >= 6}, key=len, reverse=True)

    def clean(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, _HIDDEN)
        return _FORMS.sub(_HIDDEN, text)

    def walk(part: Any) -> Any:
        if isinstance(part, str):
            return clean(part)
        if isinstance(part, Mapping):
            return {clean(str(key)): walk(item) for key, item in part.items()}
        return [walk(item) for item in part] if isinstance(part, (list, tuple)) else part

    return walk(value)


class Transcript:
    """A file of JSON lines, each ``{"time", "region", "event", …}``; nowhere when ``path`` is empty.

    Lines are appended whole, so that several compilations may share a file. Only its owner may read a new file.
    """

    def __init__(self, path: str):
        self.path = path

    def write(self, event: str, region: str, **what: Any) -> None:
        """Append one line."""
        if not self.path:
            return
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = json.dumps(redact({"time": stamp, "region": region, "event": event, **what}), ensure_ascii=False)
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, (line + "\n").encode())
        finally:
            os.close(handle)
