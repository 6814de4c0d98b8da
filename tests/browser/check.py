"""Checks the pages in a folder as a person with a browser would, and takes pictures of them.

    check.py BROWSER FOLDER          # the pages are in FOLDER/pages, the pictures come beside them
"""

import pathlib
import sys

from chromium import Page

# The contrast of each text with what is behind it, the least first: WCAG 2.2, success criterion 1.4.3.
CONTRASTS = """(() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const channels = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (color) => {
        const [r, g, b] = color.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const color = channels(getComputedStyle(at).backgroundColor);
            if (color[3] === 255) return color;
        }
        return channels("Canvas");
    };
    const found = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        const text = texts.currentNode.textContent.trim();
        if (!text || ["SCRIPT", "STYLE"].includes(element.tagName) || !element.checkVisibility()) continue;
        const [ink, paper] = [channels(getComputedStyle(element).color), behind(element)];
        const [low, high] = [luminance(ink), luminance(paper)].sort((a, b) => a - b);
        const contrast = (high + 0.05) / (low + 0.05);
        const key = `${ink} on ${paper}`;
        if (!found.has(key) || found.get(key)[0] > contrast) found.set(key, [contrast, `${key}: ${text.slice(0, 40)}`]);
    }
    return [...found.values()].sort((a, b) => a[0] - b[0]);
})()"""

# What has the focus, as far as a person sees it.
FOCUS = """(() => {
    const element = document.activeElement;
    const [box] = element.getClientRects();
    const style = getComputedStyle(element);
    return {
        name: `${element.tagName} ${element.id} ${element.textContent.trim().slice(0, 30)}`,
        href: element.getAttribute("href"),
        seen: !!box && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
        marked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
    };
})()"""

# Elements that reach beyond the page, which then scrolls sideways.
TOO_WIDE = """(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
    return wide.slice(0, 5).map((e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`).concat("scrolls");
})()"""

# The widths of summaries in lists of ops that are narrower than a phone would show them.
NARROW = """[...document.querySelectorAll(".ops li > span")].map((item) => item.getBoundingClientRect().width)
    .filter((width) => width > 0 && width < 250).slice(0, 5)"""

SHOWN = """[...document.querySelectorAll("[data-op]")].filter((item) => item.checkVisibility())
    .map((item) => item.querySelector("a").textContent)"""

failures = []


def check(what, fine, seen=""):
    print(f"{'ok    ' if fine else 'FAILED'} {what}" + ("" if fine else f": {seen}"))
    if not fine:
        failures.append(what)


def search(page, index):
    page.open(index)
    count = page.run('document.querySelectorAll("[data-op]").length')
    check("every op is shown at first", len(page.run(SHOWN)) == count, count)
    page.click("#query")
    page.write("mat_mul")
    shown = page.run(SHOWN)
    found = page.run('document.getElementById("found").textContent')
    check("ops are found by the name of their function", "MatMul" in shown and len(shown) < 40, shown)
    check("how many are found is said", found == f"{len(shown)} of {count} ops", found)
    check("the overview makes room", not page.run('document.getElementById("families").checkVisibility()'))
    page.write(" zzzz")
    found = page.run('document.getElementById("found").textContent')
    check("what is not found is said", page.run(SHOWN) == [] and found == "no op has these words", found)
    check("no heading stands alone", not page.run("""[...document.querySelectorAll("main h2, main h3")]
        .some((heading) => heading.checkVisibility())"""))
    page.run('document.getElementById("query").select()')
    page.write("MATMUL product")
    words = page.run(SHOWN)
    check("all words count, in any case", words and all("MatMul" in op for op in words), words)
    page.run('document.getElementById("query").select()')
    page.write("SparseMatMul")
    page.enter()
    first = page.run("document.activeElement.textContent")
    check("Enter leads to the first that is found", first == page.run(SHOWN)[0], first)
    page.loads(page.enter)
    target = page.run("""(() => {
        const op = document.querySelector(":target");
        const box = op && op.getBoundingClientRect();
        return op && [op.id, box.top >= -1 && box.top < innerHeight / 2];
    })()""")
    check("and from there to the op itself, which is in view", target == [first, True], target)
    page.loads(lambda: page.call("Runtime.evaluate", expression="history.back()"))
    page.settle()
    fits = page.run("""(() => {
        const words = document.getElementById("query").value.toLowerCase().split(/\\s+/).filter((word) => word);
        const items = [...document.querySelectorAll("[data-op]")];
        const has = (item) => `${item.textContent} ${item.dataset.op}`.toLowerCase();
        return items.every((item) => item.checkVisibility() === words.every((word) => has(item).includes(word)));
    })()""")
    check("after the way back, the list is that of the words in the field", fits)
    page.scripts(False)
    page.open(index)
    shown = len(page.run(SHOWN))
    hidden = not page.run('document.getElementById("search").checkVisibility()')
    check("without scripts there is no search and every op is shown", shown == count and hidden, shown)
    page.scripts(True)


def links(page, index):
    page.open(index)
    page.loads(lambda: page.click('#families a[href="math-matrix.html"]'))
    check("the overview leads to a family", "math / matrix" in page.run("document.title"), page.run("document.title"))
    page.click('.contents a[href="#MatMul"]')
    page.settle()
    target = page.run('document.querySelector(":target h2").textContent')
    top = page.run('document.querySelector(":target").getBoundingClientRect().top')
    check("its contents lead to an op", target == "MatMul" and 0 <= top < 200, (target, top))
    background = page.run('getComputedStyle(document.querySelector(":target h2 a")).backgroundColor')
    check("which is marked", background != page.run("getComputedStyle(document.body).backgroundColor"), background)
    page.loads(lambda: page.click(".neighbours .next a, .neighbours a.next"))
    check("neighbours lead on", page.run("document.title") and "math-matrix" not in page.run("location.href"))
    page.loads(lambda: page.click(".way a"))
    check("the way leads back", page.run("location.href").startswith(index), page.run("location.href"))
    # All links of all pages, as this browser reads them.
    ids, hrefs = {}, []
    for file in sorted(pathlib.Path(index.removeprefix("file://")).parent.glob("*.html")):
        page.open(file.as_uri())
        ids[file.as_uri()] = set(page.run('[...document.querySelectorAll("[id]")].map((element) => element.id)'))
        hrefs += [(file.name, href) for href in page.run("[...document.links].map((link) => link.href)")]
    local = [(at, *href.partition("#")) for at, href in hrefs if href.startswith("file:")]
    broken = [(at, to, name) for at, to, _, name in local if to not in ids or (name and name not in ids[to])]
    check(f"{len(local)} links of {len(ids)} pages lead somewhere", len(local) > 1000 and not broken, broken[:5])


def keyboard(page, address, name):
    page.open(address)
    page.tab()
    focus = page.run(FOCUS)
    check(f"{name}: the first Tab shows the way past the navigation", focus["href"] == "#content" and focus["seen"], focus)
    page.enter()
    page.tab()
    inside = page.run('document.getElementById("content").contains(document.activeElement)')
    check(f"{name}: which leads there", inside, page.run(FOCUS))
    page.open(address)
    unseen, steps = [], 0
    while steps < 60:
        page.tab()
        focus = page.run(FOCUS)
        # After the last the browser itself has it, and then the first again.
        if focus["name"].startswith("BODY"):
            break
        steps += 1
        if not (focus["seen"] and focus["marked"]):
            unseen.append(focus)
    check(f"{name}: what has the focus is seen and marked", not unseen, unseen[:3])
    page.tab()
    first = page.run(FOCUS)["href"] == "#content"
    check(f"{name}: Tab goes on, to the end of the page", steps == 60 or (steps > 20 and first), steps)


def looks(page, address, name, folder):
    page.open(address)
    for scheme in ["light", "dark"]:
        page.scheme(scheme)
        for width, height in [(1280, 900), (1000, 900), (800, 900), (360, 740)]:
            page.size(width, height)
            wide = page.run(TOO_WIDE)
            check(f"{name}: {scheme}, {width} pixels: nothing is cut off", not wide, wide)
            narrow = page.run(NARROW)
            check(f"{name}: {scheme}, {width} pixels: summaries have room", not narrow, narrow)
            page.picture(folder / f"{name}-{scheme}-{width}.png")
        contrasts = page.run(CONTRASTS)
        poor = [text for contrast, text in contrasts if contrast < 4.5]
        check(f"{name}: {scheme}: texts can be read (least contrast {contrasts[0][0]:.1f})", not poor, poor[:3])
        dark = page.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        check(f"{name}: {scheme}: the paper is", dark == (scheme == "dark"))
    page.size(1280, 900)
    page.scheme("light")
    levels = page.run('[...document.querySelectorAll("h1, h2, h3, h4")].map((heading) => +heading.tagName[1])')
    steps = all(after <= before + 1 for before, after in zip([0] + levels, levels))
    check(f"{name}: headings have an order", levels.count(1) == 1 and steps, levels[:20])


def ends(page):
    """Nothing is waited for without an end."""
    try:
        page.wait("Page.neverHappens", patience=0.5)
        why = "it has come"
    except TimeoutError as error:
        why = str(error)
    check("a wait for what never comes ends", why == "Page.neverHappens does not come", why)


def main(program, folder):
    folder = pathlib.Path(folder).resolve()
    page = Page(program)
    try:
        ends(page)
        page.size(1280, 900)
        index = (folder / "pages/index.html").as_uri()
        family = (folder / "pages/nn-conv.html").as_uri()
        search(page, index)
        links(page, index)
        for address, name in [(index, "index"), (family, "family")]:
            keyboard(page, address, name)
            looks(page, address, name, folder)
        check("the browser finds no fault", not page.faults, page.faults)
    finally:
        page.close()
    print(f"pictures are in {folder}")
    if failures:
        sys.exit(f"{len(failures)} checks failed")


main(*sys.argv[1:])
