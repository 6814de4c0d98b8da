"""Chromium without a window, driven by its DevTools protocol over a pipe: nothing but Python's own library."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time

# Seconds after which a browser that says nothing is given up.
PATIENCE = 60


class Page:
    """A browser with one page."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.profile.name}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to have one as root.

        def descriptors():
            # The protocol's: 3 to read from, 4 to write to. The copies keep one from closing the other.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen([program, *flags, "about:blank"], preexec_fn=descriptors, close_fds=False,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self._events, self._session = 0, b"", [], None
        self.faults = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser."""
        self._session = None
        self.call("Browser.close")
        self._process.wait(timeout=60)
        self.profile.cleanup()

    def _receive(self, what, until):
        """The next message. `what` is waited for, until a time of the monotonic clock."""
        while b"\0" not in self._rest:
            if not select.select([self._answers], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f"{what} does not come")
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has gone")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        """What goes wrong in a page."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.faults.append(params["exceptionDetails"].get("text", "an exception"))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.faults.append(params["entry"]["text"])
        elif method == "Network.loadingFailed" and not params.get("canceled"):
            self.faults.append(f"a file cannot be loaded: {params['errorText']}")
        self._events.append(method)

    def call(self, method, **params):
        """A command of the protocol, and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(f"the answer to {method}", until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def wait(self, event, patience=PATIENCE):
        """Until the browser says that something has happened since the last command that clears events."""
        until = time.monotonic() + patience
        while event not in self._events:
            self._note(self._receive(event, until))

    def open(self, address):
        self._events.clear()
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def loads(self, act):
        """Does something that leads to another page."""
        self._events.clear()
        act()
        self.wait("Page.loadEventFired")

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key, code=0, text=None):
        """Presses a key and lets it go."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        if text:
            about["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)
        self.settle()

    def tab(self):
        self.key("Tab", 9)

    def enter(self):
        self.key("Enter", 13, "\r")

    def write(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, selector):
        """Clicks in the middle of an element, brought into view before."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        self.settle()
        x, y = self.run(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getClientRects()[0];
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def settle(self):
        """Until the page is drawn as it is."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()

    def scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def scripts(self, run):
        self.call("Emulation.setScriptExecutionDisabled", value=not run)

    def picture(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as to:
            to.write(base64.b64decode(data))
