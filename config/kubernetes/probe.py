# SPDX-License-Identifier: Apache-2.0
"""Asks a page of this pod's own endpoint, with the password that Prometheus has: 0 for the answer 200, else 1.

Usage: probe.py URL FOLDER, with ca.crt, username and password in the folder. The certificate has to be signed by that
authority; the name in it is not looked at, since the pod asks itself.
"""

import base64
import http.client
import ssl
import sys
import urllib.parse
from pathlib import Path

url, folder = sys.argv[1], Path(sys.argv[2])
context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
context.check_hostname = False
credentials = b":".join((folder / name).read_bytes().rstrip(b"\r\n") for name in ("username", "password"))
authorization = f"Basic {base64.b64encode(credentials).decode()}"
address = urllib.parse.urlsplit(url)
connection = http.client.HTTPSConnection(str(address.hostname), address.port, timeout=4, context=context)
try:
    connection.request("GET", address.path, headers={"Authorization": authorization})
    answer = connection.getresponse()
    said = answer.read(200).decode(errors="replace").strip()
except (OSError, http.client.HTTPException) as error:
    sys.exit(f"{url}: {error!r}")
if answer.status != http.HTTPStatus.OK:
    sys.exit(f"{url}: {answer.status} {said}")
