// Messages between the service's process and an engine process, sent by structured clone.
import type { ChatPrompt, EngineErrorCode, Job, JobEvent, ScoreJob } from '../engine.ts';

export type VocabularyCall =
  | { readonly kind: 'tokenize'; readonly text: string; readonly hasControl: boolean }
  | { readonly kind: 'detokenize'; readonly tokens: readonly number[] }
  | { readonly kind: 'spell'; readonly tokens: readonly number[] }
  | { readonly kind: 'render'; readonly prompt: ChatPrompt }
  | { readonly kind: 'marks' }
  | { readonly kind: 'ends' }
  | { readonly kind: 'bytes'; readonly tokens: readonly number[] };

/** Opens the file of a vocabulary process, which starts without one so that a spare process can be kept ready. */
export interface OpenCall {
  readonly kind: 'open';
  readonly file: string;
  readonly contextLength?: number;
}

export type Call =
  | VocabularyCall
  | OpenCall
  | { readonly kind: 'embed'; readonly tokens: readonly number[] }
  | { readonly kind: 'score'; readonly job: ScoreJob }
  | { readonly kind: 'generate'; readonly job: Job };

export type ToEngine =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  | { readonly kind: 'abort'; readonly id: number }
  /** Total number of tokens that the reader of a job has consumed. */
  | { readonly kind: 'taken'; readonly id: number; readonly tokens: number }
  /** The process answers at once with a pong; otherwise it is blocked. */
  | { readonly kind: 'ping' };

export type FromEngine<Info> =
  | { readonly kind: 'pong' }
  | { readonly kind: 'ready'; readonly info: Info }
  | { readonly kind: 'unusable'; readonly code: EngineErrorCode; readonly message: string }
  /** Events of a job, in order; several events may share a message. */
  | { readonly kind: 'events'; readonly id: number; readonly events: readonly JobEvent[] }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly message: string };
