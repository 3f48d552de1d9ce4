// Words that the caller chose: of any length, in any direction.
const MOST = 50;

// The beginning of a long text, without half a character at its end.
export const short = (text) => (text.length > MOST ? `${text.slice(0, MOST).replace(/[\ud800-\udbff]$/, "")}…` : text);

// The same in a line with other words, whose order marks inside it must not turn.
export const isolated = (text) => `\u2068${short(text)}\u2069`;
