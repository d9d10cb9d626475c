// Opens the gateway's end of a channel to a worker: both sides send hello and agree on the version first.
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf, PROTOCOL_VERSION } from '@strata/inference';
import type { Channel } from '@strata/p2p';
import { WorkerLostError } from './session-events.ts';
import { type SessionOptions, WorkerSession } from './worker-session.ts';

export interface OpenSessionOptions extends SessionOptions {
  /** Name and version for the hello frame. */
  readonly software: string;
  /** Maximum wait for hello. 5,000 by default. */
  readonly helloLimitMs?: number;
  /** Interval of liveness checks. 250 by default. */
  readonly tickMs?: number;
}

/** Enough for several long-distance round trips and a busy machine. */
const HELLO_LIMIT_MS = 5_000;
/** How long the last message may take to send. */
const FAREWELL_LIMIT_MS = 1_000;
const TICK_MS = 250;

/** Exchanges hello frames. Rejects with WorkerLostError: another version, not a worker, or a timeout. */
export async function openWorkerSession(channel: Channel, options: OpenSessionOptions): Promise<WorkerSession> {
  const { software, helloLimitMs = HELLO_LIMIT_MS, tickMs = TICK_MS } = options;
  const messages = channel.messages[Symbol.asyncIterator]();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new WorkerLostError(channel.peer, 'stalled')), helloLimitMs);
  try {
    const hello = encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software, role: 'gateway' });
    const exchanged = Promise.all([channel.send(hello), firstFrame(channel.peer, messages)]);
    const [, frame] = await Promise.race([exchanged, late.promise]);
    assertWorker(channel.peer, frame);
  } catch (error) {
    const lost =
      error instanceof WorkerLostError
        ? error
        : new WorkerLostError(channel.peer, 'disconnected', { cause: error as Error });
    if (lost.loss === 'protocol') await sayFarewell(channel, lost.message);
    channel.abort(lost);
    throw lost;
  } finally {
    clearTimeout(timer);
  }
  return new WorkerSession({ channel, messages, tickMs, farewell: (breach) => sayFarewell(channel, breach) }, options);
}

async function firstFrame(peer: string, messages: AsyncIterator<Uint8Array>): Promise<Frame> {
  const { value, done } = await messages.next();
  if (done) throw new WorkerLostError(peer, 'disconnected');
  try {
    return decodeFrame(value);
  } catch (cause) {
    if (cause instanceof FrameError)
      throw new WorkerLostError(peer, 'protocol', { cause, detail: 'the first message is not a frame' });
    throw cause;
  }
}

function assertWorker(peer: string, frame: Frame): asserts frame is FrameOf<'hello'> {
  if (frame.kind === 'failed' && frame.id === 0) throw new WorkerLostError(peer, frame.code, { detail: frame.message });
  if (frame.kind !== 'hello') throw new WorkerLostError(peer, 'protocol', { detail: `${frame.kind} before hello` });
  const { version, role } = frame;
  if (version !== PROTOCOL_VERSION)
    throw new WorkerLostError(peer, 'protocol', { detail: `version ${version}, expected ${PROTOCOL_VERSION}` });
  if (role !== 'worker') throw new WorkerLostError(peer, 'protocol', { detail: 'not a worker' });
}

/** Reports a protocol violation to the other side, and closes the channel. */
async function sayFarewell(channel: Channel, message: string): Promise<void> {
  const failed = encodeFrame({ kind: 'failed', id: 0, code: 'protocol', message: message.slice(0, 1_000) });
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, FAREWELL_LIMIT_MS);
  const sent = channel.send(failed).then(() => channel.close());
  await Promise.race([sent, late.promise]).catch(() => {});
  clearTimeout(timer);
  channel.abort(new WorkerLostError(channel.peer, 'protocol', { detail: message }));
}
