// A tiny DNS client for the tests: one question over UDP or TCP, nothing hidden.
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import packet, { type DecodedPacket, type RecordType } from 'dns-packet';

export interface Server {
  readonly address: string;
  readonly port: number;
}

export interface DigOptions {
  /** EDNS0 payload size; without it the question is a plain one of 1987. */
  readonly payload?: number;
  readonly timeoutMs?: number;
}

export type Answer = DecodedPacket & {
  readonly rcode: string;
  readonly flag_tc: boolean;
  readonly flag_aa: boolean;
  readonly flag_ra: boolean;
};

export function encodeQuestion(name: string, type: RecordType | string, payload?: number): Buffer {
  const opt = {
    type: 'OPT',
    name: '.',
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  } as const;
  return packet.encode({
    type: 'query',
    id: 4_711,
    flags: packet.RECURSION_DESIRED,
    questions: [{ name, type: type as RecordType, class: 'IN' }],
    additionals: payload === undefined ? [] : [{ ...opt, udpPayloadSize: payload, options: [] }],
  });
}

/** The answer, or undefined when none came in time. */
export function dig(
  server: Server,
  name: string,
  type: RecordType | string,
  options: DigOptions = {},
): Promise<Answer | undefined> {
  return sendRaw(server, encodeQuestion(name, type, options.payload), options.timeoutMs);
}

export function sendRaw(server: Server, message: Buffer, timeoutMs = 10_000): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const finish = (answer: Answer | undefined) => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(undefined), timeoutMs);
    socket.on('error', reject);
    socket.on('message', (bytes) => finish(packet.decode(bytes) as Answer));
    socket.send(message, server.port, server.address);
  });
}

export function digOverTcp(server: Server, name: string, type: RecordType | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, server.address);
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      socket.destroy();
      resolve(packet.decode(received.subarray(2)) as Answer);
    });
    const question = encodeQuestion(name, type);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    socket.write(Buffer.concat([length, question]));
  });
}
