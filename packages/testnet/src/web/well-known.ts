// Well-known files of some companies: MTA-STS policies (RFC 8461) and security.txt (RFC 9116).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plan } from '../companies/plan-type.ts';
import { mintFor } from '../random.ts';

const MTA_STS_PATH = '/.well-known/mta-sts.txt';
const SECURITY_TXT_PATH = '/.well-known/security.txt';
const YEAR_MS = 365 * 86_400_000;

/** The host that serves a company's MTA-STS policy. */
export function policyHost({ domain }: Pick<Plan, 'domain'>): string {
  return `mta-sts.${domain}`;
}

interface WellKnownOptions {
  readonly host: string;
  readonly seed: string;
  /** Hosts that receive a company's mail. */
  readonly exchangesOf: (plan: Plan) => readonly string[];
}

/** Answers for a well-known file, and for anything at the policy host; false passes the request to the site. */
export function answerWellKnown(
  plan: Plan,
  { host, seed, exchangesOf }: WellKnownOptions,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const text = (body: string) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
  const missing = () => response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n');
  if (host === policyHost(plan)) {
    if (plan.hasMtaSts && request.url === MTA_STS_PATH) text(policyOf(plan, seed, exchangesOf(plan)));
    else missing();
    return true;
  }
  if (request.url !== SECURITY_TXT_PATH || plan.state !== 'active' || plan.site !== 'ok') return false;
  const mint = mintFor(seed, plan.domain);
  // Sites that redirect to `www` do so for every path.
  if (host === plan.domain && mint.number('apex-www', 0, 2) === 0) return false;
  const kind = mint.number('security-txt', 0, 9);
  if (kind === 0) text(contactOf(plan, mint.number('security-txt-age', 0, 4) === 0));
  // A quarter of the remaining ones answer every path with their page.
  else if (kind < 3) return false;
  else missing();
  return true;
}

function policyOf({ domain }: Plan, seed: string, exchanges: readonly string[]): string {
  const mode = mintFor(seed, domain).number('sts-mode', 0, 2) === 0 ? 'testing' : 'enforce';
  const lines = ['version: STSv1', `mode: ${mode}`, ...exchanges.map((host) => `mx: ${host}`), 'max_age: 604800'];
  return lines.map((line) => `${line}\r\n`).join('');
}

function contactOf({ domain }: Plan, isExpired: boolean): string {
  const expires = new Date(Date.now() + (isExpired ? -YEAR_MS : YEAR_MS)).toISOString();
  return `Contact: mailto:security@${domain}\nExpires: ${expires}\nPreferred-Languages: en\n`;
}
