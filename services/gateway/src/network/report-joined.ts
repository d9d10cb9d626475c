// Logs whether the peers named in the settings were reached. The node itself keeps trying.
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';

/** After this time a peer is logged as not reached. */
const LIMIT_MS = 15_000;

/** Addresses and tokens are not logged: a token may contain the key of a private network. */
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
        if (!signal.aborted) logger.warn({ setting, err: error }, 'no peer was reached; retrying');
      }
    }),
  );
}
