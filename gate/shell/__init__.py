"""What a shell line may do, judged before it runs.

bytes -> parse -> (strict, lenient) -> classify. The strict reader alone may say read_only, and only of what
it understands to the last character; the lenient reader looks for destruction inside anything; the stricter
of the two wins. What programs do is data (rules/*.toml, read by bot.loading.rules); nothing here names a
program. The verdict assumes bash --noprofile --norc, a scrubbed environment, no TTY, stdin from /dev/null.
"""
