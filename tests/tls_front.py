"""Encryption in front of a server that has none: the embedded Valkey is built without TLS."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from free_ports import free_port

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """Signs certificates; `file` is what others have to trust."""

    home: Path
    name: x509.Name
    key: ec.EllipticCurvePrivateKey
    file: Path

    @classmethod
    def made(cls, home: Path) -> "Authority":
        """A new authority."""
        name, key = _named("a test's authority"), ec.generate_private_key(ec.SECP256R1())
        basic = x509.BasicConstraints(ca=True, path_length=None)
        signed = _certificate(name, name, key).add_extension(basic, critical=True).sign(key, hashes.SHA256())
        file = home / "authority.pem"
        file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return cls(home, name, key, file)

    def certificate(self, host: str, lasts: dt.timedelta = DAY) -> tuple[Path, Path]:
        """The files of a certificate for `host`, good for so long, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
        except ValueError:
            names = x509.SubjectAlternativeName([x509.DNSName(host)])
        wanted = _certificate(_named(host), self.name, key, lasts).add_extension(names, critical=False)
        wanted = wanted.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False
        )
        file, key_file = self.home / f"{host}.pem", self.home / f"{host}.key"
        file.write_bytes(wanted.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return file, key_file

    def context(self, host: str, *, clients: bool = False, lasts: dt.timedelta = DAY) -> ssl.SSLContext:
        """What a server of this name shows; with `clients` it wants certificates of this authority from others."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(*self.certificate(host, lasts))
        if clients:
            made.load_verify_locations(self.file)
            made.verify_mode = ssl.CERT_REQUIRED
        return made


@contextmanager
def front(socket: str, context: ssl.SSLContext | None) -> Iterator[int]:
    """A port of this machine behind which the server at the unix socket answers; encrypted if there is a context."""
    port, up, ending = free_port(), threading.Event(), []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, to_behind = await asyncio.open_unix_connection(socket)
        try:
            await asyncio.gather(_pass_on(reader, to_behind), _pass_on(behind, writer))
        finally:
            writer.transport.abort()
            to_behind.transport.abort()

    async def serve() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(lambda _loop, _what: None)  # refused handshakes are what some tests are about
        ending.append(lambda: loop.call_soon_threadsafe(stop.set))
        async with await asyncio.start_server(answer, "127.0.0.1", port, ssl=context):
            up.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert up.wait(10)
    try:
        yield port
    finally:
        ending[0]()
        thread.join(10)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, lasts: dt.timedelta = DAY
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - DAY).not_valid_after(now + lasts)
    return made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
