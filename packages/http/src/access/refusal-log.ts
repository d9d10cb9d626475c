// Logs refusals of requests without a valid key: their response bodies do not depend on the request, so the details are
// only in the log. At most one line per kind in ten seconds, because unauthenticated clients must not fill the disk.
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ThrottledReport } from '../operations/throttled-report.ts';

const MAX_CHARACTERS = 200;

export class RefusalLog {
  readonly #logger: Logger;
  readonly #rateLimited = new ThrottledReport();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `code` names the kind. */
  note(
    { id, url, headers }: FastifyRequest,
    { code, detail }: { readonly code: string; readonly detail: string },
  ): void {
    const unreported = this.#rateLimited.take(code);
    if (unreported === undefined) return;
    const [path, host, origin] = [url, headers.host, headers.origin].map((text) => text?.slice(0, MAX_CHARACTERS));
    const facts = { requestId: id, path, host, origin, code, detail, ...(unreported > 0 && { unreported }) };
    this.#logger.info(facts, 'request refused');
  }
}
