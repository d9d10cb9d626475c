// Structured logs without secrets.
import pino, { type DestinationStream, type Logger } from 'pino';

/** API keys anywhere in a line: in an error message, in a URL, under any name. */
const apiKeys = /\b(?:ssk_[A-Za-z0-9_-]+|sk-[A-Za-z0-9_-]{20,})/g;

/** Removes API keys from a text that is logged or returned. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(apiKeys, '[secret]');
}

/**
 * Characters that JSON leaves unescaped but terminals or editors interpret: DEL and the C1 controls (U+009B begins an
 * escape sequence as ESC does), line separators, and bidirectional controls.
 */
const interpreted = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** They occur only within JSON strings, so an escape is equivalent. */
function asPrinted(line: string): string {
  return line.replaceAll(interpreted, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Logs JSON lines in which untrusted input cannot end a line or move a cursor. API keys never appear; authorization
 * headers and cookies are redacted in headers logged as a value of their own, as `headers` or as `x.headers`.
 */
export function createLogger(options: { readonly level: string }, destination?: DestinationStream): Logger {
  const secrets = ['x-stack-key', 'authorization', 'cookie', 'set-cookie'];
  const paths = secrets.flatMap((name) => [
    `["${name}"]`,
    `headers["${name}"]`,
    `*["${name}"]`,
    `*.headers["${name}"]`,
  ]);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...paths, 'key'], censor: '[secret]' },
      hooks: { streamWrite: (line) => asPrinted(withoutApiKeys(line)) },
    },
    destination ?? pino.destination(2),
  );
}
