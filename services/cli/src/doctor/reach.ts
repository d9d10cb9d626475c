// Whether another service that the settings name can be reached from here.
import { type Finding, ok, warning } from './finding.ts';

const REACH_MS = 5_000;
/** Minutes apart, signatures and certificates begin to be refused. */
const MOST_SKEW_MS = 60_000;

/** Any answer will do: whether it is the right one is not for a visitor to say. Its clock is compared with ours. */
export async function checkReach(setting: string, url: string): Promise<Finding> {
  const check = `${setting}`;
  try {
    const response = await fetch(url, { method: 'GET', redirect: 'manual', signal: AbortSignal.timeout(REACH_MS) });
    await response.body?.cancel();
    const aheadMs = Date.parse(response.headers.get('date') ?? '') - Date.now();
    if (Math.abs(aheadMs) > MOST_SKEW_MS)
      return warning(check, {
        found: `${withoutSecrets(url)}: its clock is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ours`,
        means: 'One of the two clocks is wrong.',
        todo: 'Run a time service on both.',
      });
    return ok(check, `${withoutSecrets(url)} answers ${response.status}`);
  } catch (error) {
    const { cause, message } = error as Error;
    const why = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
    return warning(check, {
      found: `${withoutSecrets(url)} cannot be reached: ${why}`,
      means: 'What needs it fails until it is there.',
      todo: `Start it, or mend ${setting}.`,
    });
  }
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
