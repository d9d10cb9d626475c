// Events for the operator of the worker.
import type { ContributedModel } from './contributed-model.ts';

export type WorkerEvent =
  | {
      readonly kind: 'started';
      readonly peer: string;
      readonly models: readonly ContributedModel[];
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'joined'; readonly target: string; readonly peers: readonly string[] }
  | { readonly kind: 'not-joined'; readonly target: string; readonly reason: string }
  | { readonly kind: 'serving'; readonly gateway: string }
  | { readonly kind: 'left'; readonly gateway: string }
  /** It rejects requests and offers nothing, for this reason; undefined: it serves again. */
  | { readonly kind: 'refusing'; readonly reason: string | undefined }
  /** No gateway has connected to it for a while. */
  | { readonly kind: 'alone'; readonly connected: number };
