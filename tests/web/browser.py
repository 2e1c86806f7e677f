"""A headless Chromium, driven by its DevTools protocol over two pipes (--remote-debugging-pipe):
messages are JSON that ends with a zero byte."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def program():
    """The browser's name, or None where there is none."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Failure(Exception):
    pass


class Browser:
    """One browser process; use it in a with statement."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="selvage-browser-")
        read, its_write = os.pipe()
        its_read, write = os.pipe()
        # The browser wants its ends as 3 and 4: first out of the way of those numbers.
        read, write, its_read, its_write = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in
                                            (read, write, its_read, its_write)]
        self.log = open(os.path.join(self.home, "log"), "wb")
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--metrics-recording-only",
             "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(self.home, "profile"), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, close_fds=False,
            preexec_fn=lambda: (os.dup2(its_read, 3), os.dup2(its_write, 4)))
        os.close(its_read)
        os.close(its_write)
        self.read, self.write = read, write
        self.buffer = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self, seconds):
        """The next message, or None."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                return None
            piece = os.read(self.read, 1 << 20)
            if not piece:
                with open(self.log.name, "rb") as log:
                    raise Failure("the browser ended: " + log.read().decode(errors="replace")[-2000:])
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, seconds=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        end = time.monotonic() + seconds
        while True:
            answer = self.receive(max(0, end - time.monotonic()))
            if answer is None:
                raise Failure("no answer to %s within %d s" % (method, seconds))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def page(self, width=1280, height=900, mobile=False, features=()):
        return Page(self, width, height, mobile, features)


class Page:
    def __init__(self, browser, width, height, mobile, features):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.size(width, height, mobile)
        if features:
            self.media(features=features)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if mobile else 1, mobile=mobile)

    def media(self, kind="", features=()):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": n, "value": v} for n, v in features])

    def open(self, path, ready="document.documentElement?.dataset.ready === 'yes'", seconds=60):
        self.browser.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait(ready, seconds)

    def run(self, expression):
        """The value of a JavaScript expression (a promise is waited for)."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure("%s: %s" % (expression, answer["exceptionDetails"].get(
                "exception", {}).get("description", answer["exceptionDetails"]["text"])))
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > end:
                raise Failure("waited %d s for %s; %s" % (seconds, expression, self.complaints()))
            time.sleep(0.05)

    def settle(self):
        """Waits until what was asked to be drawn is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
                 "() => setTimeout(done, 50))))")

    def key(self, name, code=None, text=None):
        keys = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38,
                "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
        number = code or keys.get(name, ord(name[0].upper()))
        text = text or {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=number,
                  **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=number)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path, whole=False):
        options = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = dict(x=0, y=0, width=size["width"], height=size["height"], scale=1)
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def mine(self):
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def complaints(self):
        """Errors and warnings of the console, and exceptions."""
        out = []
        for event in self.mine():
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                out.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                out.append(what["entry"]["text"])
        return out

    def requests(self):
        """All that was asked for, beyond what is in the page itself."""
        return [e["params"]["request"]["url"] for e in self.mine()
                if e["method"] == "Network.requestWillBeSent" and
                not e["params"]["request"]["url"].startswith(("data:", "blob:"))]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
