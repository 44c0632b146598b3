export const hostileKey = "<b>hostile</b>";

/** Text that models, tools and users may write. The page shows it and never interprets it. */
export const hostileText = [
  "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  "\u001b[31;1mred\u001b[0m \u001b]0;title\u0007 after a terminal title",
  "[click](javascript:alert(1)) **bold** `code` ![x](https://evil.example/pixel.png)",
  "averyveryverylongwordwithoutanybreak".repeat(40),
  "שלום עולם, العربية، and back to left",
  "safe\u202Etxt.exe looks like exe.txt",
  "zero\u200Bwidth \u0007 bell",
  "emoji 👩‍👩‍👧‍👦 and combining Z̸̢̛͓̦͇̆̈́͒a̴͖̅l̷̗͋g̵̤̈́ò̵̺",
].join("\n");
