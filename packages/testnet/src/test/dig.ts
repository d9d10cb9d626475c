// A tiny DNS client for tests: one question over UDP or TCP, with the unprocessed answer.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import packet, { type DecodedPacket, type RecordType } from 'dns-packet';

type Server = { readonly address: string; readonly port: number };
export type Answer = DecodedPacket & Readonly<{ rcode: string; flag_tc: boolean; flag_aa: boolean; flag_ra: boolean }>;

/** With an EDNS0 payload size, or a plain question as of 1987. */
function encodeQuestion(name: string, type: string, flags = 0, udpPayloadSize?: number): Buffer {
  const opt = { type: 'OPT', name: '.', extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false } as const;
  return packet.encode({
    type: 'query',
    id: 4_711,
    flags: packet.RECURSION_DESIRED | flags,
    questions: [{ name, type: type as RecordType, class: 'IN' }],
    additionals: udpPayloadSize === undefined ? [] : [{ ...opt, udpPayloadSize, options: [] }],
  });
}

/** The answer, or undefined on a timeout. */
export const dig = (
  server: Server,
  name: string,
  type: string,
  { flags, payload, timeoutMs }: { flags?: number; payload?: number; timeoutMs?: number } = {},
) => sendRaw(server, encodeQuestion(name, type, flags, payload), timeoutMs);

export async function sendRaw(server: Server, message: Buffer, timeoutMs = 10_000): Promise<Answer | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.send(message, server.port, server.address);
    const [bytes] = await once(socket, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    return packet.decode(bytes) as Answer;
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    return undefined;
  } finally {
    socket.close();
  }
}

export async function digOverTcp(server: Server, name: string, type: string): Promise<Answer> {
  const socket = connect(server.port, server.address);
  const question = encodeQuestion(name, type);
  socket.write(Buffer.concat([Buffer.from([question.length >> 8, question.length & 0xff]), question]));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break;
  }
  return packet.decode(received.subarray(2)) as Answer;
}

/** The response code of an answer over TCP, and its records with typed data. */
export async function records<Data = unknown>(server: Server, name: string, type: string) {
  const { rcode, answers = [] } = await digOverTcp(server, name, type);
  return { rcode, records: answers as unknown as readonly { type: string; name: string; data: Data }[] };
}

export async function dataOf<Data = string>(server: Server, name: string, type: string): Promise<Data[]> {
  return (await records<Data>(server, name, type)).records.map(({ data }) => data);
}

/** The texts of a name, each joined from its character strings. */
export const textsOf = async (server: Server, name: string): Promise<string[]> =>
  (await dataOf<Buffer[]>(server, name, 'TXT')).map((parts) => Buffer.concat(parts).toString());
