// The NVD's rate limit: 5 requests in 30 seconds, 50 with a key.
import type { Reply } from './publisher.ts';

const WINDOW_MS = 30_000;
const WITHOUT_KEY = 5;
const WITH_KEY = 50;
const KEY = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the refusal of a request by its key, or undefined if it is allowed. Uses real time. */
export function nvdLimits(): (key: string | undefined) => Reply | undefined {
  const asked = new Map<string, number[]>();
  return (key) => {
    if (key !== undefined && !KEY.test(key)) return { status: 404, headers: { message: 'Invalid apiKey.' } };
    const now = performance.now();
    const recent = (asked.get(key ?? '') ?? []).filter((time) => now - time < WINDOW_MS);
    asked.set(key ?? '', recent);
    if (recent.length < (key === undefined ? WITHOUT_KEY : WITH_KEY)) {
      recent.push(now);
      return undefined;
    }
    // The firewall blocks clients without a key; the service itself answers clients with one.
    if (key !== undefined) return { status: 429, headers: { 'retry-after': '30' } };
    const body = '<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n</body></html>\n';
    return { status: 403, headers: { 'content-type': 'text/html' }, body };
  };
}
