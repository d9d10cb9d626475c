// A DNS server on loopback: UDP and TCP, EDNS0, truncation; the answer is a function of the question.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket as TcpSocket } from 'node:net';
import packet from 'dns-packet';
import { close, listen } from '../listening.ts';
import type { DnsRecord } from './published-records.ts';
import { type Poison, unrelatedRecord, type Vantage } from './vantage.ts';

export interface Reply {
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'FORMERR' | 'NOTIMP';
  readonly answers?: readonly DnsRecord[];
  readonly authorities?: readonly DnsRecord[];
  readonly additionals?: readonly DnsRecord[];
  readonly isAuthoritative?: boolean;
  /** Its signatures were validated: indicated to clients that set AD or DO (RFC 6840 section 5.8). */
  readonly isAuthentic?: boolean;
  readonly delayMs?: number;
}

export interface Question {
  readonly name: string;
  readonly type: string;
  /** False if the client disables validation (CD, RFC 4035 section 3.2.2). */
  readonly isChecked: boolean;
}

/** `null` drops the question. */
export type Responder = (question: Question) => Reply | null;

export interface DnsServer extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
const PLAIN_UDP_BYTES = 512;
const OUR_UDP_BYTES = 1_232;

interface DnsServerOptions {
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly isRecursive: boolean;
  /** Packet loss and poisoning of datagrams; none by default. */
  readonly vantage?: Vantage;
}

/** Listens on both transports of one port. */
export async function startDnsServer(options: DnsServerOptions, respond: Responder): Promise<DnsServer> {
  // The system picks a port that is free for UDP; another program may use it for TCP.
  for (let tries = 0; ; tries += 1) {
    try {
      return await startOnce(options, respond);
    } catch (error) {
      if (options.port !== 0 || tries >= 20 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

async function startOnce(options: DnsServerOptions, respond: Responder): Promise<DnsServer> {
  const { address, isRecursive, vantage } = options;
  const udp = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  udp.bind(options.port, address);
  await once(udp, 'listening');
  const { port } = udp.address();
  const tcp = createServer((socket) => serveTcp(socket, isRecursive, respond));
  try {
    await listen(tcp, { port, address });
  } catch (error) {
    udp.close();
    throw error;
  }
  const sockets = new Set<TcpSocket>();
  tcp.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  serveUdp(udp, { isRecursive, vantage }, respond);
  return {
    address,
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      udp.close();
      await Promise.all([once(udp, 'close'), close(tcp)]);
    },
  };
}

type Datagrams = Pick<DnsServerOptions, 'isRecursive'> & { readonly vantage: Vantage | undefined };

function serveUdp(socket: Socket, { isRecursive, vantage }: Datagrams, respond: Responder): void {
  let isClosed = false;
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('message', (message, from) => {
    if (vantage?.isLost()) return;
    // A delayed reply may be due after the server was closed.
    const send = (bytes: Buffer) => {
      if (!isClosed) socket.send(bytes, from.port, from.address, () => {});
    };
    handle(message, { isRecursive, isTcp: false, poison: vantage?.poison() ?? null }, respond, send);
  });
}

/** A response with the question's id that answers another question. */
function twinOf(id: number, type: string): Buffer {
  const record = unrelatedRecord(type);
  const question = { name: record.name, type: record.type } as packet.Question;
  return packet.encode({ type: 'response', id, questions: [question], answers: [record as packet.Answer] });
}

function serveTcp(socket: TcpSocket, isRecursive: boolean, respond: Responder): void {
  let pending = Buffer.alloc(0);
  socket.setTimeout(10_000, () => socket.destroy());
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const size = pending.readUInt16BE(0);
      const message = pending.subarray(2, 2 + size);
      pending = pending.subarray(2 + size);
      handle(message, { isRecursive, isTcp: true, poison: null }, respond, (bytes) => {
        if (socket.writable) socket.write(Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]));
      });
    }
  });
}

function handle(
  message: Buffer,
  { isRecursive, isTcp, poison }: { isRecursive: boolean; isTcp: boolean; poison: Poison | null },
  respond: Responder,
  send: (bytes: Buffer) => void,
): void {
  let query: packet.DecodedPacket;
  try {
    query = packet.decode(message);
  } catch {
    // Without a readable question, the response contains only the id (RFC 1035 section 4.1.1).
    if (message.length >= 2)
      send(packet.encode({ type: 'response', id: message.readUInt16BE(0), flags: RCODES.FORMERR }));
    return;
  }
  const [question, ...more] = query.questions ?? [];
  if (query.type !== 'query') return;
  const opcode = ((query.flags ?? 0) >> 11) & 0xf;
  if (!question || opcode !== 0) {
    const rcode = opcode === 0 ? RCODES.FORMERR : RCODES.NOTIMP;
    const flags = (opcode << 11) | (isRecursive ? packet.RECURSION_AVAILABLE : 0) | rcode;
    send(packet.encode({ type: 'response', id: query.id ?? 0, flags }));
    return;
  }
  const isChecked = ((query.flags ?? 0) & packet.CHECKING_DISABLED) === 0;
  const isOdd = more.length > 0 || question.class !== 'IN' || ['AXFR', 'IXFR'].includes(question.type);
  const reply = isOdd
    ? ({ rcode: 'REFUSED' } as const)
    : respond({ name: question.name.toLowerCase(), type: question.type, isChecked });
  if (!reply) return;
  if (poison === 'twin') send(twinOf(query.id ?? 0, question.type));

  const opt = query.additionals?.find((record) => record.type === 'OPT');
  const wantsVerdict =
    ((query.flags ?? 0) & packet.AUTHENTIC_DATA) !== 0 || (opt !== undefined && 'flag_do' in opt && opt.flag_do);
  const flags =
    (reply.isAuthentic && isChecked && wantsVerdict ? packet.AUTHENTIC_DATA : 0) |
    ((query.flags ?? 0) & packet.CHECKING_DISABLED) |
    (reply.isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) |
    (isRecursive ? packet.RECURSION_AVAILABLE : 0) |
    ((query.flags ?? 0) & packet.RECURSION_DESIRED) |
    RCODES[reply.rcode];
  const ours: packet.Answer[] = opt
    ? [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: OUR_UDP_BYTES,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ]
    : [];
  const encode = (extra: number, sections: Pick<Reply, 'answers' | 'authorities' | 'additionals'>) =>
    packet.encode({
      type: 'response',
      id: query.id ?? 0,
      flags: flags | extra,
      questions: [question],
      answers: [
        ...(sections.answers ?? []),
        ...(poison === 'unrelated' ? [unrelatedRecord(question.type)] : []),
      ] as packet.Answer[],
      authorities: [...(sections.authorities ?? [])] as packet.Answer[],
      additionals: [...((sections.additionals ?? []) as packet.Answer[]), ...ours],
    });
  let bytes = encode(0, reply);
  const limit =
    opt && 'udpPayloadSize' in opt ? Math.max(PLAIN_UDP_BYTES, Math.min(opt.udpPayloadSize, 4_096)) : PLAIN_UDP_BYTES;
  if (!isTcp && bytes.length > limit) bytes = encode(packet.TRUNCATED_RESPONSE, {});
  if (reply.delayMs) setTimeout(() => send(bytes), reply.delayMs).unref();
  else send(bytes);
}
