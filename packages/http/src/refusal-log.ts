// Refusals that anybody can cause: what their bodies do not say is logged, one of a kind now and then, since strangers could
// fill the disk with these too.
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { SeldomTold } from './seldom-told.ts';

const MOST_CHARACTERS = 200;

export class RefusalLog {
  readonly #logger: Logger;
  readonly #seldom = new SeldomTold();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `code` names the kind. */
  note(
    { id, url, headers }: FastifyRequest,
    { code, detail }: { readonly code: string; readonly detail: string },
  ): void {
    const untold = this.#seldom.take(code);
    if (untold === undefined) return;
    const [path, host, origin] = [url, headers.host, headers.origin].map((text) => text?.slice(0, MOST_CHARACTERS));
    this.#logger.info({ requestId: id, path, host, origin, code, detail, untold }, 'request refused');
  }
}
