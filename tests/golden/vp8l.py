"""Lossless WebP pictures of any content: transforms, caches, choices of codes, codes and pixels are drawn. Nearly all are pictures; they
reach what encoders do not write."""

LENGTHS, DISTANCES = 24, 40
ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]


class Bits:
    """Bits, the lowest of each byte first."""

    def __init__(self):
        self.parts, self.count = [], 0

    def put(self, number, bits):
        self.parts.append(format(number & ((1 << bits) - 1), f"0{bits}b")[::-1] if bits else "")
        self.count += bits

    def bytes(self):
        text = "".join(self.parts)
        return int(text[::-1] or "0", 2).to_bytes((len(text) + 7) // 8, "little")


def complete(random, most):
    """The lengths of a complete code of two to `most` symbols."""
    lengths = [1, 1]
    for _ in range(random.choice([0, 1, 2, 5, 14, random.randrange(most), most])):
        index = random.randrange(len(lengths)) if random.random() < 0.7 else -1
        if lengths[index] < 15 and len(lengths) < most:
            lengths[index] += 1
            lengths.insert(index, lengths[index])
    return lengths


def codes_of(lengths):
    """The bits of each symbol's code, the first in the lowest place, and how many they are."""
    code, codes = 0, {}
    for length in range(1, 16):
        for symbol, own in enumerate(lengths):
            if own == length:
                codes[symbol] = int(format(code, f"0{length}b")[::-1], 2), length
                code += 1
        code <<= 1
    return codes


def extended(symbol):
    """The least number that a symbol of a length or a distance tells, and how many bits are added."""
    bits = max((symbol - 2) >> 1, 0)
    return (symbol + 1 if symbol < 4 else ((2 + (symbol & 1)) << bits) + 1), bits


class Picture:
    """Writes a picture with numbers from a random.Random."""

    def __init__(self, random):
        self.random, self.bits = random, Bits()

    def flag(self, often):
        answer = self.random.random() < often
        self.bits.put(answer, 1)
        return answer

    def code(self, symbols, among=None):
        """Writes a code of so many symbols, of which only the first may have one; returns the codes."""
        random, put = self.random, self.bits.put
        among = min(among or symbols, symbols)
        if self.flag(1 if among == 1 else 0.4):
            pair = [random.randrange(min(among, 256)) for _ in range(random.choice([1, 1, 2]))]
            put(len(pair) - 1, 1)
            put(1, 1)
            if len(pair) == 2 and random.random() < 0.05:
                pair[1] = random.randrange(256)
            for symbol in pair:
                put(symbol, 8)
            pair = sorted({symbol for symbol in pair if symbol < symbols})
            return {symbol: (index, len(pair) - 1) for index, symbol in enumerate(pair)}
        lengths = [0] * symbols
        if random.random() < 0.1:
            lengths[random.randrange(among)] = random.randint(1, 15)
        else:
            own = complete(random, among)
            for symbol, length in zip(random.sample(range(among), len(own)), own):
                lengths[symbol] = length
        self.lengths(lengths)
        used = [symbol for symbol in range(symbols) if lengths[symbol]]
        return codes_of(lengths) if len(used) > 1 else {used[0]: (0, 0)}

    def lengths(self, lengths):
        """Writes lengths, in a complete code of all that tells them, or of that which tells no repetitions."""
        random, put = self.random, self.bits.put
        outer = random.choice([[4] * 13 + [5] * 6, [4] * 16 + [0] * 3])
        put(15, 4)
        for symbol in ORDER:
            put(outer[symbol], 3)
        put(0, 1)
        codes, index, before = codes_of(outer), 0, 8
        while index < len(lengths):
            length = lengths[index]
            run = next((k for k in range(index, len(lengths)) if lengths[k] != length), len(lengths)) - index
            if outer[16] and run >= 3 and length == 0:
                kind, least, width = (17, 3, 3) if run < 11 else (18, 11, 7)
            elif outer[16] and run >= 3 and length == before:
                kind, least, width = 16, 3, 2
            else:
                kind, least, width = length, 1, 0
                before = length or before
            run = min(run, least + (1 << width) - 1)
            put(*codes[kind])
            put(run - least, width)
            index += run

    def group(self, places, among):
        return [self.code(256 + LENGTHS + places, among), *(self.code(256, among) for _ in range(3)), self.code(DISTANCES)]

    def inner(self, columns, rows):
        """Writes a picture that tells something of tiles or colours."""
        group = self.group(self.cache(), None)
        self.pixels(columns * rows, lambda at: group)

    def choice(self, columns, rows):
        """Writes a picture whose greens and reds tell which codes tiles have; returns which."""
        self.bits.put(0, 1)
        # A red counts 256 groups.
        green = self.code(256 + LENGTHS, self.random.choice([1, 2, 4, 40]))
        red = self.code(256, self.random.choice([1, 1, 1, 1, 1, 2, 5]))
        group = [green, red, self.code(256), self.code(256), self.code(DISTANCES)]
        return self.pixels(columns * rows, lambda at: group)

    def small_group(self):
        """Writes codes of one symbol each."""
        symbols = [*(self.random.randrange(256) for _ in range(4)), 0]
        for symbol in symbols:
            for number, bits in ((1, 1), (0, 1), (1, 1), (symbol, 8)):
                self.bits.put(number, bits)
        return [{symbol: (0, 0)} for symbol in symbols]

    def cache(self):
        size = self.random.randint(1, 11) if self.flag(0.3) else 0
        self.bits.put(size, 4 if size else 0)
        return 1 << size if size else 0

    def pixels(self, count, group_at):
        """Writes pixels; returns the greens of those that are no repetitions, and 256 times their reds."""
        random, put = self.random, self.bits.put
        at, greens = 0, []
        while at < count:
            green, red, blue, alpha, distance = group_at(at)
            symbol = random.choice(list(green))
            for _ in range(20):
                if 256 <= symbol < 256 + LENGTHS and (at == 0 or extended(symbol - 256)[0] > count - at):
                    symbol = random.choice(list(green))
            put(*green[symbol])
            at += 1
            if symbol < 256:
                others = [random.choice(list(code)) for code in (red, blue, alpha)]
                greens.append(symbol | others[0] << 8)
                for code, other in zip((red, blue, alpha), others):
                    put(*code[other])
            elif symbol < 256 + LENGTHS:
                length, bits = extended(symbol - 256)
                more = random.randrange(max(min(1 << bits, count - at + 2 - length), 1))
                put(more, bits)
                at += length + more - 1
                symbol = random.choice(list(distance))
                least, bits = extended(symbol)
                put(*distance[symbol])
                # Not further behind than there are pixels, if that can be; the first 120 numbers tell other distances.
                put(random.randrange(max(min(1 << bits, at + 120 - least), 1)), bits)
        return greens

    def write(self, columns, rows):
        """Returns the bytes of a picture without a header."""
        random, put = self.random, self.bits.put
        size = lambda side, bits: -(-side // (1 << bits))
        for kind in random.sample(range(4), random.choice([0, 0, 1, 1, 2, 3, 4])):
            put(1, 1)
            put(kind, 2)
            if kind < 2:
                bits = random.randint(2, 9)
                put(bits - 2, 3)
                self.inner(size(columns, bits), size(rows, bits))
            elif kind == 3:
                colors = random.choice([1, 2, 3, 4, 5, 16, 17, random.randint(1, 256)])
                put(colors - 1, 8)
                self.inner(colors, 1)
                columns = size(columns, 3 if colors <= 2 else 2 if colors <= 4 else 1 if colors <= 16 else 0)
        put(0, 1)
        places, among = self.cache(), random.choice([None, 2, 16, 256])
        if self.flag(0.3):
            bits = random.randint(2, 9)
            put(bits - 2, 3)
            across = size(columns, bits)
            choice = self.choice(across, size(rows, bits))
            count = max(choice) + 1
            groups = [self.small_group() if count > 256 and random.random() < 0.99 else self.group(places, among) for _ in range(count)]
            group_at = lambda at: groups[choice[(at // columns >> bits) * across + (at % columns >> bits)]]
        else:
            own = self.group(places, among)
            group_at = lambda at: own
        self.pixels(columns * rows, group_at)
        return self.bits.bytes()


def lossless(random, columns, rows, has_alpha=True):
    """The payload of a chunk `VP8L`."""
    head = (columns - 1) | (rows - 1) << 14 | has_alpha << 28
    return b"\x2f" + head.to_bytes(4, "little") + Picture(random).write(columns, rows)


def alpha(random, columns, rows):
    """The payload of a chunk `ALPH`, compressed."""
    return bytes([1 | random.randrange(4) << 2]) + Picture(random).write(columns, rows)
