"""Lossy WebP files of any content: a header of VP8 (RFC 6386, section 9.2 on) with numbers that are drawn, and bytes that are drawn for
all decisions behind it. Every code stands for some picture, so that these reach what encoders do not write: all modes, segments,
filters, partitions and coefficients as large as they can be."""
import struct


class Code:
    """The arithmetic code of RFC 6386, section 7."""

    def __init__(self):
        self.value, self.range, self.bits = 0, 255, 8

    def decide(self, decision, probability=128):
        split = 1 + ((self.range - 1) * probability >> 8)
        if decision:
            self.value += split
            self.range -= split
        else:
            self.range = split
        while self.range < 128:
            self.value <<= 1
            self.range <<= 1
            self.bits += 1

    def number(self, number, bits):
        for k in reversed(range(bits)):
            self.decide(number >> k & 1)

    def maybe_signed(self, number, bits):
        """A number and its sign, or none."""
        self.decide(number is not None)
        if number is not None:
            self.number(abs(number), bits)
            self.decide(number < 0)

    def bytes(self):
        return (self.value << -self.bits % 8).to_bytes((self.bits + 7) // 8, "big")


class Header:
    """The numbers of a header, drawn from a random.Random."""

    def __init__(self, random, code):
        self.random, self.code = random, code

    def flag(self, often=0.5):
        decision = self.random.random() < often
        self.code.decide(decision)
        return decision

    def maybe(self, bits, most, often):
        self.code.maybe_signed(self.random.randint(-most, most) if self.random.random() < often else None, bits)

    def write(self, partitions):
        random, code = self.random, self.code
        code.number(random.randrange(4), 2)
        if self.flag():
            has_tree = self.flag(0.8)
            if self.flag(0.8):
                self.flag()
                for bits in (7, 6):
                    for _ in range(4):
                        self.maybe(bits, (1 << bits) - 1, 0.8)
            for _ in range(3 * has_tree):
                if self.flag(0.8):
                    code.number(random.randrange(256), 8)
        self.flag(0.3)
        code.number(random.choice([0, random.randrange(64), random.randrange(64)]), 6)
        code.number(random.choice([0, random.randrange(8)]), 3)
        if self.flag() and self.flag(0.8):
            for _ in range(8):
                self.maybe(6, 63, 0.6)
        code.number(partitions, 2)
        code.number(random.choice([0, 10, 127, random.randrange(128)]), 7)
        for _ in range(5):
            self.maybe(4, 15, 0.4)


def decisions(random, size, likely):
    """So many decisions, of which so many of 256 are 0, and as many bytes."""
    code = Code()
    for _ in range(size):
        code.decide(random.randrange(256) >= likely)
    return code.bytes() + random.randbytes(size)


def lossy(random, columns, rows, cut=False):
    """The payload of a chunk `VP8 `. One that is cut lacks the end of a part that is read, or of everything."""
    code, partitions = Code(), random.choice([0, 0, 1, 2, 3])
    Header(random, code).write(partitions)
    across, down = -(-columns // 16), -(-rows // 16)
    for _ in range(across * down * 120 + 1040):
        code.decide(random.random() < 0.5)
    first = code.bytes()
    # Each holds the coefficients of some rows; what lies behind them is read when they are too short.
    read = [len(range(k, down, 1 << partitions)) for k in range(1 << partitions)]
    parts = [decisions(random, rows * across * 360 + 20, random.choice([64, 128, 200, 240])) for rows in read]
    if cut:
        k = random.choice([k for k, rows in enumerate(read) if rows])
        parts[k] = parts[k][:random.randrange(len(parts[k]) // 4)]
        if random.random() < 0.3:
            first = first[:random.randrange(len(first))]
    sizes = b"".join(struct.pack("<I", len(part))[:3] for part in parts[:-1])
    start = struct.pack("<I", random.randrange(4) << 1 | 1 << 4 | len(first) << 5)[:3] + b"\x9d\x01\x2a"
    # The highest two bits of the sizes are for whoever shows the picture.
    scaled = [side | random.randrange(4) << 14 for side in (columns, rows)]
    data = start + struct.pack("<HH", *scaled) + first + sizes + b"".join(parts)
    return data[:random.randrange(len(data))] if cut and random.random() < 0.3 else data


def chunk(name, payload):
    return name + struct.pack("<I", len(payload)) + payload + bytes(len(payload) % 2)


def riff(*chunks):
    body = b"WEBP" + b"".join(chunk(*named) for named in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def file(payload):
    """A WebP file of a lossy picture."""
    return riff((b"VP8 ", payload))


def canvas(columns, rows, flags):
    return b"VP8X", struct.pack("<I", flags) + struct.pack("<I", columns - 1)[:3] + struct.pack("<I", rows - 1)[:3]
