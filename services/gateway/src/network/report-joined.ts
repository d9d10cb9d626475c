// For the operator's log: whether those whom the settings name were reached. The host itself goes on trying.
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';

/** Then it is said that nobody was reached yet. */
const LIMIT_MS = 15_000;

/** Addresses and tokens themselves are not told: a token may hold the key of a private network. */
export async function reportJoined(
  { peers }: { readonly peers: Pick<PeerNode['peers'], 'join'> },
  { join, logger, signal }: { readonly join: readonly string[]; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(
    join.map(async (target, i) => {
      const setting = join.length === 1 ? 'STRATA_JOIN' : `STRATA_JOIN, number ${i + 1}`;
      try {
        const reached = await peers.join(target, { signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]) });
        logger.info({ setting, peers: reached }, 'joined the network');
      } catch (error) {
        if (!signal.aborted) logger.warn({ setting, err: error }, 'nobody was reached there; it is tried again');
      }
    }),
  );
}
