// robots.txt (RFC 9309): fetched once per origin and checked before every page.
import robotsParser, { type Robot } from 'robots-parser';
import type { Visit } from './web-client.ts';

/** RFC 9309 §2.5: at least 500 KiB must be parsed; the rest is cut off, possibly within a line. */
const MAX_ROBOTS_CHARACTERS = 512 * 1_024;

// The package is CommonJS and its types describe an ES module: the default import is the function itself.
const parseRobots = robotsParser as unknown as (url: string, contents: string) => Robot;

/** Whether a URL may be visited: missing rules allow, a server error forbids (§2.3.1.3, §2.3.1.4). */
export function robotsRules(robots: Visit, origin: string, userAgent: string): (url: URL) => boolean {
  if (robots.kind === 'failed') return () => true;
  if (robots.statusCode >= 500) return () => false;
  // A redirect of robots.txt is not followed.
  if (robots.statusCode !== 200) return () => true;
  const rules = parseRobots(`${origin}/robots.txt`, robots.body.toString('utf8').slice(0, MAX_ROBOTS_CHARACTERS));
  const product = userAgent.split('/')[0] ?? userAgent;
  return (url) => rules.isAllowed(url.href, product) !== false;
}
