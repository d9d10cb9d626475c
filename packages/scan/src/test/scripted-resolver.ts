// A resolver whose upstreams follow scripts, and the scripts that several tests use.
import dnsPacket from 'dns-packet';
import { Resolver, type ResolverOptions } from '../resolver.ts';
import { a, type DnsScript, type DnsServer, reply, startDnsServer } from './dns-server.ts';

/** For tests of silence: all others are generous, since a busy machine may answer late. */
export const IMPATIENT = { tryTimeoutMs: 200, totalTimeoutMs: 500 } as const;

/** Lets `test` ask a resolver whose upstreams follow the scripts. */
export async function withServers(
  scripts: readonly DnsScript[],
  test: (resolver: Resolver, servers: readonly DnsServer[]) => Promise<void>,
  options: ResolverOptions = {},
) {
  const servers = await Promise.all(scripts.map((script) => startDnsServer(script)));
  const resolver = new Resolver({ upstreams: servers, tryTimeoutMs: 15_000, totalTimeoutMs: 30_000, ...options });
  try {
    await test(resolver, servers);
  } finally {
    await resolver[Symbol.asyncDispose]();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
}

export const rcode =
  (code: number): DnsScript =>
  (question) => [reply(question, { rcode: code })];
/** Over UDP the answer is cut short, over TCP `overTcp` answers. */
export const truncated =
  (overTcp: DnsScript): DnsScript =>
  (question) =>
    question.transport === 'udp' ? [reply(question, { flags: dnsPacket.TRUNCATED_RESPONSE })] : overTcp(question);
export const silent: DnsScript = () => [];
/** An honest one-record answer whose bytes are then spoilt, in place or by new ones. */
export const spoilt =
  (spoil: (bytes: Buffer) => Buffer | undefined): DnsScript =>
  (question) => {
    const bytes = reply(question, { answers: [a(question.name, '192.0.2.1')] });
    return [spoil(bytes) ?? bytes];
  };
