"""A hall's broker as it should be: TLS, passwords, the example's access list; and two gateways, pi-a and pi-b."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from brokers import free_port, taking_connections

SYSTEMD = Path(__file__).parents[1] / "systemd"
USERS = ("spectator", "screen", "arbiter", "gw-pi-a", "gw-pi-b")
SBIN = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"


def needed(*commands: str) -> pytest.MarkDecorator:
    """Skip where one of these programs is not installed."""
    missing = [command for command in commands if shutil.which(command, path=SBIN) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def openssl(*arguments: str | Path) -> None:
    """Run it."""
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """Signs certificates."""

    def __init__(self, directory: Path, name: str = "hall") -> None:
        self.directory = directory
        self.certificate = directory / f"{name}-ca.pem"
        self._key = directory / f"{name}-ca.key"
        openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"),
            *("-subj", f"/CN={name} authority", "-keyout", self._key, "-out", self.certificate),
        )

    def sign(self, name: str, alternatives: str, days: int = 2) -> tuple[Path, Path]:
        """Return certificate and key."""
        certificate, key, request = (self.directory / f"{name}.{end}" for end in ("pem", "key", "csr"))
        openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}"),
            *("-keyout", key, "-out", request),
        )
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternatives}\n")
        openssl(
            *("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial"),
            *("-days", days, "-extfile", extensions, "-out", certificate),
        )
        return certificate, key


class Broker:
    """A mosquitto: `port` with TLS, `certified` where a client's certificate is wanted too."""

    def __init__(self, directory: Path, passwords: dict[str, str]) -> None:
        self.directory = directory
        self.passwords = passwords
        self.port, self.certified = free_port(), free_port()
        self.authority = Authority(directory)
        self.certificate, self.key = self.authority.sign("localhost", "DNS:localhost,IP:127.0.0.1")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, access: str | None = None) -> None:
        """Start with this access list, or the example's with a second gateway beside the first."""
        if access is None:
            access = (SYSTEMD / "mosquitto.acl").read_text()
            access += access[access.index("user gw-pi-a") :].replace("pi-a", "pi-b").replace("/1/", "/2/")
        (self.directory / "acl").write_text(access)
        secrets = self.directory / "passwd"
        secrets.write_text("".join(f"{user}:{word}\n" for user, word in self.passwords.items()))
        subprocess.run([shutil.which("mosquitto_passwd", path=SBIN) or "", "-U", secrets], check=True)
        tls = f"cafile {self.authority.certificate}\ncertfile {self.certificate}\nkeyfile {self.key}\n"
        conf = self.directory / "mosquitto.conf"
        conf.write_text(
            f"user root\nallow_anonymous false\npassword_file {secrets}\nacl_file {self.directory / 'acl'}\n"
            f"listener {self.port} 127.0.0.1\n{tls}"
            f"listener {self.certified} 127.0.0.1\n{tls}require_certificate true\n"
        )
        self._process = subprocess.Popen(
            [shutil.which("mosquitto", path=SBIN) or "", "-c", conf],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        taking_connections(self.port)

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def configuration(self, gateway: str, table: str, board: Path, secret: Path, more: Sequence[str] = ()) -> str:
        """A gateway's configuration for this broker."""
        return f"""
[gateway]
id = "{gateway}"
state_dir = "{secret.parent / f"state-{gateway}"}"
[mqtt]
host = "localhost"
port = {self.port}
username = "gw-{gateway}"
password_file = "{secret}"
[mqtt.tls]
ca_file = "{self.authority.certificate}"
{chr(10).join(more)}
[[table]]
id = "{table}"
[table.board]
driver = "generic"
port = "{board}"
"""
