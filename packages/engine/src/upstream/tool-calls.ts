// Assembles tool calls from the pieces that upstreams send.
import type { ChatDelta } from '@strata/inference';
import type { CallPiece } from './chunks.ts';
import { failed } from './errors.ts';

interface Call {
  readonly at: number;
  id: string;
  name: string;
  /** Its name and id are final. */
  isEmitted: boolean;
  /** Of its arguments. */
  length: number;
}

const MAX_CALLS = 128;
const MAX_ARGUMENTS = 1024 * 1024;

/**
 * Calls in the order in which they began. Each is emitted when its arguments begin, or when it ends: until then
 * llama-server may extend its name and id. Throws EngineError `upstream-failed` above the limits, and for a call
 * without a name.
 */
export class CallReader {
  /** For calls without an id. */
  readonly #newId: () => string;
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  count = 0;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  *take(piece: CallPiece): Generator<ChatDelta> {
    let call = this.#known(piece);
    if (!call) {
      yield* this.end();
      call = this.#begin(piece);
    }
    if (!call.isEmitted) {
      call.id = piece.id || call.id;
      call.name = piece.name || call.name;
    }
    if (piece.arguments === '') return;
    yield* this.#emit(call);
    call.length += piece.arguments.length;
    if (call.length > MAX_ARGUMENTS) throw failed(`sent more than ${MAX_ARGUMENTS} characters of arguments`);
    yield { kind: 'arguments', at: call.at, text: piece.arguments };
  }

  /** Ends the last call. */
  *end(): Generator<ChatDelta> {
    if (this.#last) yield* this.#emit(this.#last);
  }

  *#emit(call: Call): Generator<ChatDelta> {
    if (call.isEmitted) return;
    if (call.name === '') throw failed('sent a call without a name');
    call.isEmitted = true;
    yield { kind: 'call', at: call.at, id: call.id || this.#newId(), name: call.name };
  }

  /**
   * The call that a piece belongs to. Some servers give every call the index 0, some give none: a new id distinguishes
   * them.
   */
  #known({ index, id, name }: CallPiece): Call | undefined {
    const call = index === undefined ? this.#last : this.#byIndex.get(index);
    if (!call || name === '') return call;
    const hasOtherId = id !== '' && call.id !== '' && id !== call.id;
    const isOther = hasOtherId ? call.isEmitted || index === undefined : index === undefined && call.name !== '';
    return isOther ? undefined : call;
  }

  #begin({ index }: CallPiece): Call {
    if (this.count >= MAX_CALLS) throw failed(`sent more than ${MAX_CALLS} calls`);
    const call = { at: this.count, id: '', name: '', isEmitted: false, length: 0 };
    this.count += 1;
    this.#last = call;
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}
