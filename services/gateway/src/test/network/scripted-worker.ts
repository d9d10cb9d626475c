// A worker for tests that implements the protocol from its frames, with arbitrary behaviour: written from the specification, without code of the real worker.
import type { Job, JobEvent } from '@strata/engine';
import {
  bytesSha256,
  decodeFrame,
  encodeFrame,
  encodeSegmentReceipt,
  type Frame,
  type FrameOf,
  PROTOCOL,
  type SegmentReceipt,
  segmentSignedBytes,
  TokenChain,
  tokensSha256,
} from '@strata/inference';
import type { Channel, PeerNode } from '@strata/p2p';
import { until } from './answers.ts';

export interface WorkerEngine {
  readonly info: { readonly sha256: string; readonly engine: string };
  generate(job: Job, signal: AbortSignal): AsyncIterable<JobEvent>;
}

export interface WorkerScript {
  readonly heartbeatMs?: number;
  readonly hello?: FrameOf<'hello'>;
  /** Replaces a frame. */
  readonly send?: (frame: Frame, worker: ScriptedWorker) => readonly (Frame | Uint8Array)[];
  /** Replaces the signed receipt. */
  readonly receipt?: (receipt: SegmentReceipt) => SegmentReceipt;
  /** Replaces fields of `done`, with the receipt signed. */
  readonly done?: (done: FrameOf<'done'>) => FrameOf<'done'>;
  /** Called with each frame of the gateway; true: it is processed. */
  readonly onFrame?: (frame: Frame, worker: ScriptedWorker) => boolean;
}

const newJob = (credit: number) => ({
  ...{ credit, cancelled: new AbortController(), wake: () => {} },
  phase: 'waiting' as 'waiting' | 'reading' | 'writing',
});

export class ScriptedWorker {
  readonly node: PeerNode;
  readonly frames: Frame[] = [];
  readonly #channel: Channel;
  readonly #by: { readonly engine: WorkerEngine; readonly script: WorkerScript };
  readonly #jobs = new Map<number, ReturnType<typeof newJob>>();
  readonly #heartbeats: NodeJS.Timeout;
  /** Sends and processes nothing any more, and keeps the connection. */
  isFrozen = false;

  private constructor(node: PeerNode, channel: Channel, engine: WorkerEngine, script: WorkerScript) {
    this.node = node;
    this.#channel = channel;
    this.#by = { engine, script };
    this.#heartbeats = setInterval(() => this.#heartbeat(), script.heartbeatMs ?? 250);
    this.send(script.hello ?? { kind: 'hello', version: 1, software: 'scripted', role: 'worker' });
    void this.#read();
  }

  static async connect(node: PeerNode, gateway: string, by: { engine: WorkerEngine; script?: WorkerScript }) {
    const channel = await node.channels.open(gateway, PROTOCOL, { signal: AbortSignal.timeout(30_000) });
    return new ScriptedWorker(node, channel, by.engine, by.script ?? {});
  }

  async received<Kind extends Frame['kind']>(kind: Kind): Promise<FrameOf<Kind>> {
    await until(() => this.frames.some((frame) => frame.kind === kind));
    return this.frames.find((frame) => frame.kind === kind) as FrameOf<Kind>;
  }

  get running(): number {
    return this.#jobs.size;
  }

  /** Like a killed process: the channel breaks. */
  kill(): void {
    this.#stop();
    this.#channel.abort(new Error('killed'));
  }

  /** Closes the channel as if no job were in progress. */
  async close(): Promise<void> {
    this.#stop();
    await this.#channel.close();
  }

  #stop(): void {
    this.isFrozen = true;
    clearInterval(this.#heartbeats);
    for (const job of this.#jobs.values()) job.cancelled.abort();
  }

  send(frame: Frame): void {
    if (this.isFrozen) return;
    const sent = this.#by.script.send?.(frame, this) ?? [frame];
    if (this.isFrozen) return;
    for (const each of sent) this.#channel.send(each instanceof Uint8Array ? each : encodeFrame(each)).catch(() => {});
  }

  #heartbeat(): void {
    const jobs = Array.from(this.#jobs, ([id, { phase }]) => ({ id, phase }));
    this.send({ kind: 'pulse', running: jobs.length, waiting: 0, jobs });
  }

  async #read(): Promise<void> {
    try {
      for await (const bytes of this.#channel.messages) {
        if (this.isFrozen) await new Promise(() => {});
        this.#take(decodeFrame(bytes), bytes);
      }
    } catch {
      // The gateway has disconnected.
    }
    this.kill();
  }

  #take(frame: Frame, bytes: Uint8Array): void {
    this.frames.push(frame);
    if (this.#by.script.onFrame?.(frame, this)) return;
    if (frame.kind === 'request') void this.#serve(frame, bytesSha256(bytes));
    if (frame.kind === 'cancel') this.#jobs.get(frame.id)?.cancelled.abort();
    const job = frame.kind === 'credit' && this.#jobs.get(frame.id);
    if (!job) return;
    job.credit += frame.tokens;
    job.wake();
  }

  async #serve(request: FrameOf<'request'>, requestSha256: string): Promise<void> {
    const { id, given, prompt, nonce, modelSha256, credit, sampling } = request;
    const job = newJob(credit);
    const { cancelled } = job;
    this.#jobs.set(id, job);
    cancelled.signal.addEventListener('abort', () => job.wake());
    const logitBias = new Map(sampling.logitBias.map(({ token, bias }) => [token, bias]));
    // Fields that a frame does not have are undefined.
    const asked = { ...request, sampling: { ...sampling, logitBias } } as Job;
    const chain = new TokenChain({ nonce, modelSha256, promptSha256: tokensSha256(prompt), from: given.length });
    const times = { startedAtMs: Date.now(), firstTokenAtMs: 0 };
    let position = given.length;
    let reason: SegmentReceipt['reason'] = 'cancelled';
    try {
      for await (const event of this.#by.engine.generate(asked, cancelled.signal)) {
        if (event.kind === 'begin') {
          job.phase = 'reading';
          this.send({ kind: 'begin', id, cachedTokens: event.cachedTokens });
        } else if (event.kind === 'end') reason = event.reason;
        else {
          while (job.credit === 0 && !cancelled.signal.aborted)
            await new Promise<void>((resolve) => {
              job.wake = resolve;
            });
          if (cancelled.signal.aborted) break;
          job.credit -= 1;
          job.phase = 'writing';
          times.firstTokenAtMs ||= Date.now();
          chain.push(event.token);
          const top = (event.top ?? []).map(({ bytes, ...each }) => ({ ...each, text: bytes }));
          const { token, bytes: text, logprob } = event;
          this.send({ kind: 'tokens', id, position: position++, tokens: [{ token, text, logprob, top }] });
        }
      }
    } catch (error) {
      if (!cancelled.signal.aborted) {
        const isOfGrammar = (error as { readonly code?: string }).code === 'grammar-unusable';
        const code = isOfGrammar ? 'grammar-unusable' : 'engine-failed';
        this.send({ kind: 'failed', id, code, message: String(error).slice(0, 1_000) });
        return;
      }
    } finally {
      this.#jobs.delete(id);
    }
    const receipt: SegmentReceipt = {
      ...{ version: 1, nonce, worker: this.node.id, gateway: this.#channel.peer, modelSha256 },
      ...{ promptSha256: tokensSha256(prompt), requestSha256, from: given.length, to: position },
      ...{ chainHead: chain.head, promptTokens: prompt.length, cachedTokens: 0, reason },
      ...{ engine: this.#by.engine.info.engine, ...times, endedAtMs: Date.now() },
    };
    const signed = encodeSegmentReceipt(this.#by.script.receipt?.(receipt) ?? receipt);
    const signature = await this.node.sign(segmentSignedBytes(signed));
    const done = { kind: 'done', id, reason, receipt: signed, signature } as const;
    this.send(this.#by.script.done?.(done) ?? done);
  }
}
