// The gateway's end of one channel to a worker, opened: both say hello, and agree on the version, before anything else.
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf, PROTOCOL_VERSION } from '@strata/inference';
import type { Channel } from '@strata/p2p';
import { LiveSession, type SessionOptions } from './live-session.ts';
import { WorkerLostError, type WorkerSession } from './worker-session.ts';

/** Long enough for a few round trips around the world and a machine that is busy. */
const HELLO_LIMIT_MS = 5_000;
/** What is said last is given so long to be taken. */
const FAREWELL_LIMIT_MS = 1_000;
const TICK_MS = 250;

/** Says hello and waits for the other's. Rejects with WorkerLostError: another version, no worker, silence. */
export async function openWorkerSession(channel: Channel, options: SessionOptions): Promise<WorkerSession> {
  const { software, helloLimitMs = HELLO_LIMIT_MS, tickMs = TICK_MS } = options;
  const messages = channel.messages[Symbol.asyncIterator]();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new WorkerLostError(channel.peer, 'stalled')), helloLimitMs);
  try {
    const hello = encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software, role: 'gateway' });
    const greeted = Promise.all([channel.send(hello), firstFrame(channel.peer, messages)]);
    const [, frame] = await Promise.race([greeted, late.promise]);
    assertWorker(channel.peer, frame);
  } catch (error) {
    const lost =
      error instanceof WorkerLostError ? error : new WorkerLostError(channel.peer, 'gone', { cause: error as Error });
    if (lost.loss === 'protocol') await sayFarewell(channel, lost.message);
    channel.abort(lost);
    throw lost;
  } finally {
    clearTimeout(timer);
  }
  return new LiveSession({ channel, messages, tickMs, farewell: (breach) => sayFarewell(channel, breach) }, options);
}

async function firstFrame(peer: string, messages: AsyncIterator<Uint8Array>): Promise<Frame> {
  const { value, done } = await messages.next();
  if (done) throw new WorkerLostError(peer, 'gone');
  try {
    return decodeFrame(value);
  } catch (cause) {
    if (cause instanceof FrameError)
      throw new WorkerLostError(peer, 'protocol', { cause, detail: 'what came first is no frame' });
    throw cause;
  }
}

function assertWorker(peer: string, frame: Frame): asserts frame is FrameOf<'hello'> {
  if (frame.kind === 'failed' && frame.id === 0) throw new WorkerLostError(peer, frame.code, { detail: frame.message });
  if (frame.kind !== 'hello') throw new WorkerLostError(peer, 'protocol', { detail: `${frame.kind} before hello` });
  const { version, role } = frame;
  if (version !== PROTOCOL_VERSION)
    throw new WorkerLostError(peer, 'protocol', { detail: `version ${version}, and here ${PROTOCOL_VERSION}` });
  if (role !== 'worker') throw new WorkerLostError(peer, 'protocol', { detail: 'no worker' });
}

/** Tells the other side what it did wrong, and leaves. */
async function sayFarewell(channel: Channel, message: string): Promise<void> {
  const failed = encodeFrame({ kind: 'failed', id: 0, code: 'protocol', message: message.slice(0, 1_000) });
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, FAREWELL_LIMIT_MS);
  const told = channel.send(failed).then(() => channel.close());
  await Promise.race([told, late.promise]).catch(() => {});
  clearTimeout(timer);
  channel.abort(new WorkerLostError(channel.peer, 'protocol', { detail: message }));
}
