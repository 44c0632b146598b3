"""Runs a command in a pseudo-terminal and keeps the screen as a person would see it.

Reads one JSON object from standard input: {"argv", "columns", "rows", "env", "steps": [{"when", "send"}], "timeoutS"}.
Each step waits until its text is on the screen (or has scrolled off it) and then types. "resize": [columns, rows]
instead of "send" changes the size. Prints one JSON object: {"code", "lines" (with what scrolled off), "screen",
"seen" (the screen at each step), "widest"}.
"""
import fcntl, json, os, pty, re, select, signal, struct, sys, termios, time


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.scrolled = [[]], []
        self.row = self.column = 0
        self.wrapped = 0
        self.colored = False
        self.cursor_hidden = False
        self.updating = False
        self.left_over = ""

    def feed(self, text):
        text = self.left_over + text
        self.left_over = ""
        at = 0
        while at < len(text):
            character = text[at]
            if character == "\x1b":
                found = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])").match(text, at)
                if found is None:
                    self.left_over = text[at:]
                    return
                self.control(found.group(1), found.group(2))
                at = found.end()
                continue
            at += 1
            if character == "\n":
                self.down()
            elif character == "\r":
                self.column = 0
            elif character >= " ":
                self.put(character)

    def control(self, arguments, command):
        count = int(arguments) if arguments.isdigit() else 1
        if command == "A":
            self.row = max(0, self.row - count)
        elif command == "K":
            self.line().clear()
        elif command == "J":
            del self.line()[self.column:]
            del self.lines[self.row + 1:]
        elif command == "m" and arguments not in ("", "0"):
            self.colored = True
        elif command in "lh" and arguments == "?25":
            self.cursor_hidden = command == "l"
        elif command in "lh" and arguments == "?2026":
            self.updating = command == "h"

    def line(self):
        while len(self.lines) <= self.row:
            self.lines.append([])
        return self.lines[self.row]

    def down(self):
        self.row += 1
        self.line()
        while len(self.lines) > self.rows:
            self.scrolled.append(self.lines.pop(0))
            self.row -= 1

    def put(self, character):
        if self.column >= self.columns:
            self.wrapped += 1
            self.column = 0
            self.down()
        line = self.line()
        while len(line) <= self.column:
            line.append(" ")
        line[self.column] = character
        self.column += 1

    def shown(self):
        return ["".join(line).rstrip() for line in self.lines]

    def everything(self):
        return ["".join(line).rstrip() for line in self.scrolled] + self.shown()


def main():
    asked = json.load(sys.stdin)
    columns, rows = asked["columns"], asked["rows"]
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(asked["argv"][0], asked["argv"], asked["env"])
    resize(terminal, columns, rows)
    screen = Screen(columns, rows)
    steps, seen = list(asked["steps"]), []
    deadline = time.monotonic() + asked["timeoutS"]
    decoder = __import__("codecs").getincrementaldecoder("utf-8")("replace")
    timed_out = False
    while True:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            timed_out = True
            break
        ready, _, _ = select.select([terminal], [], [], 0.05)
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            screen.feed(decoder.decode(data))
        while steps and not screen.updating and re.search(steps[0]["when"], "\n".join(screen.everything())):
            step = steps.pop(0)
            seen.append(screen.shown())
            if "resize" in step:
                screen.columns, screen.rows = step["resize"]
                resize(terminal, *step["resize"])
            else:
                os.write(terminal, step["send"].encode())
    _, status = os.waitpid(child, 0)
    json.dump({
        "code": os.waitstatus_to_exitcode(status),
        "lines": screen.everything(),
        "screen": screen.shown(),
        "seen": seen,
        "wrapped": screen.wrapped,
        "colored": screen.colored,
        "cursorHidden": screen.cursor_hidden,
        "timedOut": timed_out,
        "stepsLeft": len(steps),
    }, sys.stdout)


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


main()
