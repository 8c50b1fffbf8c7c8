# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._base_url import BaseUrl, parse_base_url
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8000", BaseUrl("http://127.0.0.1:8000", "127.0.0.1", 8000)),
        ("http://127.0.0.1:8000/", BaseUrl("http://127.0.0.1:8000", "127.0.0.1", 8000)),
        (" http://gpu-1 ", BaseUrl("http://gpu-1", "gpu-1", 80)),
        ("https://gpu-1", BaseUrl("https://gpu-1", "gpu-1", 443)),
        ("http://[::1]:8000", BaseUrl("http://[::1]:8000", "::1", 8000)),
        ("HTTP://localhost:1", BaseUrl("http://localhost:1", "localhost", 1)),
    ],
)
def test_parse(text: str, expected: BaseUrl) -> None:
    assert parse_base_url("url", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.0.0.1:8000",
        "localhost",
        "ftp://127.0.0.1:8000",
        "http://",
        "http://:8000",
        "http://127.0.0.1:abc",
        "http://127.0.0.1:70000",
        "http://[::1",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000?a=b",
        "http://127.0.0.1:8000#a",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(NemotronError) as error:
        parse_base_url("url", text)
    assert str(error.value) == (
        f"url: found {text!r}; needed the address of the server without a path, for example http://127.0.0.1:8000."
    )


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("[::1]", True), ("10.0.0.1", False), ("a", False)],
)
def test_is_loopback(host: str, expected: bool) -> None:
    assert parse_base_url("url", f"http://{host}:1").is_loopback is expected
