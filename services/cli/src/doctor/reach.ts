// Checks whether another configured service is reachable.
import { type Finding, ok, warning } from './finding.ts';

const TIMEOUT_MS = 5_000;
/** With a difference of minutes, signatures and certificates are rejected. */
const MAX_SKEW_MS = 60_000;

/** Any response is accepted, whatever its status. Compares the clocks. */
export async function checkReach(check: string, url: string): Promise<Finding> {
  try {
    const response = await fetch(url, { method: 'GET', redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    const aheadMs = Date.parse(response.headers.get('date') ?? '') - Date.now();
    if (Math.abs(aheadMs) > MAX_SKEW_MS)
      return warning(check, {
        found: `${withoutSecrets(url)}: the clock is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`,
        means: 'One of the two clocks is wrong.',
        todo: 'Enable a time service on both.',
      });
    return ok(check, `${withoutSecrets(url)} returned ${response.status}`);
  } catch (error) {
    const { cause, message } = error as Error;
    const why = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
    return warning(check, {
      found: `${withoutSecrets(url)} cannot be reached: ${why}`,
      means: 'Functions that depend on it fail until it is reachable.',
      todo: `Start it, or correct ${check}.`,
    });
  }
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
