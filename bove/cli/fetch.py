"""`bove fetch`: download a file, or members of an archive, checked by hash."""

import logging
import re
from pathlib import Path

from bove.errors import BoveError
from bove.fetch import fetch

log = logging.getLogger("bove")


def register(parser) -> None:
    parser.add_argument("--name", required=True, help="name of the source, for the log")
    parser.add_argument("--url", required=True, help="address to download from")
    hashes = parser.add_mutually_exclusive_group()
    hashes.add_argument("--sha256", metavar="HEX", help="what the download must hash to")
    hashes.add_argument("--md5", metavar="HEX", help="the same, where only an MD5 is published")
    parser.add_argument(
        "--member",
        action="append",
        default=[],
        metavar="NAME",
        help="file to take out of the archive, by name or pattern; repeatable",
    )
    parser.add_argument("--output", required=True, type=Path, help="file, or folder of the members")
    parser.add_argument("--retries", type=int, default=5, help="tries after the first (default 5)")


def run(args) -> None:
    """Download, check, unpack."""
    known = None
    for kind, digits in (("sha256", 64), ("md5", 32)):
        value = getattr(args, kind)
        if value is not None:
            if not re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value):
                raise BoveError(f"--{kind} {value}: not {digits} hexadecimal digits; correct it")
            known = f"{kind}:{value.lower()}"
    if args.retries < 0:
        raise BoveError(f"--retries {args.retries}: below 0; give how often to try again")
    log.info("%s: fetching %s", args.name, args.url)
    fetch(args.url, args.output, known, tuple(args.member), args.retries, log.info)
