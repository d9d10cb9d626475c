// Checks a resolver: UDP, TCP, EDNS, NXDOMAIN for names that do not exist, DNSSEC validation.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import dns, { type DecodedPacket } from 'dns-packet';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface ResolverAddress {
  readonly address: string;
  readonly port: number;
}

type Transport = (resolver: ResolverAddress, query: Buffer, timeoutMs: number) => Promise<Buffer>;

/** A name that always exists, and has been signed since 2011. */
const KNOWN_NAME = 'com';
/** Not fragmented on common paths (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1_232;
const TRIES = 2;

/** Sends a few queries to one resolver. */
export async function checkResolver(resolver: ResolverAddress, { timeoutMs = 3_000 } = {}): Promise<Finding> {
  const check = `resolver ${isIPv6(resolver.address) ? `[${resolver.address}]` : resolver.address}:${resolver.port}`;
  const ask = (name: string, type: 'NS' | 'A', transport: Transport = overUdp) =>
    resolve({ resolver, name, type, transport, timeoutMs });
  const startedAt = performance.now();
  const known = await ask(KNOWN_NAME, 'NS');
  const tookMs = Math.round(performance.now() - startedAt);
  if (known === undefined)
    return problem(check, {
      found: 'does not answer over UDP',
      means: 'Nothing can be scanned with it.',
      todo: 'Check address, port and firewall (outgoing UDP and TCP 53), or set STRATA_RESOLVERS to other resolvers.',
    });
  if (rcodeOf(known) !== 'NOERROR' || !known.answers?.length)
    return problem(check, {
      found: `answers ${rcodeOf(known)} for ${KNOWN_NAME}., which exists`,
      means: 'Every domain would be unmeasured.',
      todo: 'It may refuse this network or have no upstream: allow recursion for this address, or set STRATA_RESOLVERS to another resolver.',
    });
  // One name below an existing zone, and one in a zone that never exists (RFC 6761 §6.4).
  const label = `x${randomBytes(10).toString('hex')}`;
  const missing = await Promise.all([`${label}.com`, `${label}.invalid`].map((name) => ask(name, 'A')));
  if (missing.some((answer) => answer !== undefined && rcodeOf(answer) === 'NOERROR' && answer.answers?.length))
    return problem(check, {
      found: 'returns addresses for names that do not exist',
      means: 'Nonexistent domains would appear active, all on the same host.',
      todo: 'Turn off its redirection of unknown names, or set STRATA_RESOLVERS to another resolver.',
    });
  const warnings: Finding[] = [];
  if ((await ask(KNOWN_NAME, 'NS', overTcp)) === undefined)
    warnings.push(
      warning(check, {
        found: 'does not answer over TCP',
        means:
          'Answers too long for one packet (many TXT and DNSKEY records) are lost, so their sources are unmeasured.',
        todo: 'Allow TCP 53.',
      }),
    );
  if (!known.additionals?.some(({ type }) => type === 'OPT'))
    warnings.push(
      warning(check, {
        found: 'does not support EDNS',
        means: 'Answers of more than 512 bytes need TCP, and DNSSEC cannot be checked.',
        todo: 'Update it, or the middlebox that strips EDNS.',
      }),
    );
  else if (!known.flag_ad)
    warnings.push(
      warning(check, {
        found: 'does not validate DNSSEC',
        means: 'The DNSSEC state of every domain is `unknown`.',
        todo: 'Enable validation (Unbound: auto-trust-anchor-file, BIND: dnssec-validation auto), or use another resolver.',
      }),
    );
  return warnings.length > 1
    ? {
        ...(warnings[0] as Finding),
        found: warnings.map(({ found }) => found).join('; '),
        means: warnings.map(({ means }) => means).join(' '),
        todo: warnings.map(({ todo }) => todo).join(' '),
      }
    : (warnings[0] ?? ok(check, `answers over UDP in ${tookMs} ms and over TCP, with EDNS; validates DNSSEC`));
}

interface Query {
  readonly resolver: ResolverAddress;
  readonly name: string;
  readonly type: 'NS' | 'A';
  readonly transport: Transport;
  readonly timeoutMs: number;
}

/** Undefined where no valid response arrives. */
async function resolve({ resolver, name, type, transport, timeoutMs }: Query): Promise<DecodedPacket | undefined> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const id = randomBytes(2).readUInt16BE();
    const query = dns.encode({
      type: 'query',
      id,
      flags: dns.RECURSION_DESIRED | dns.AUTHENTIC_DATA,
      questions: [{ type, name }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: UDP_PAYLOAD_BYTES,
          flags: 0,
          options: [],
          extendedRcode: 0,
          ednsVersion: 0,
          flag_do: false,
        },
      ],
    });
    const answer = await transport(resolver, query, timeoutMs)
      .then((bytes) => dns.decode(bytes))
      .catch(() => undefined);
    if (answer?.id === id && answer.type === 'response') return answer;
  }
  return undefined;
}

const rcodeOf = (answer: DecodedPacket) => (answer as DecodedPacket & { readonly rcode?: string }).rcode ?? 'unknown';

const overUdp: Transport = ({ address, port }, query, timeoutMs) => {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  let timer: NodeJS.Timeout | undefined;
  return new Promise<Buffer>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), timeoutMs);
    socket.once('error', reject);
    socket.once('message', resolve);
    socket.connect(port, address, () => socket.send(query));
  }).finally(() => {
    clearTimeout(timer);
    socket.close();
  });
};

/** Each message is preceded by its length in two bytes (RFC 1035 §4.2.2). */
const overTcp: Transport = ({ address, port }, query, timeoutMs) => {
  const socket = connect({ host: address, port });
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(timeoutMs, () => reject(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) resolve(received.subarray(2));
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  }).finally(() => socket.destroy());
};
