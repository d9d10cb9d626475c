// Parses the bytes of a channel into messages: a length (unsigned varint), then that many bytes. An incomplete message
// is kept in one buffer, so the number of chunks it arrives in does not matter.

/** A longer message is invalid: the channel is aborted before it is read. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Sufficient for the length of any valid message. */
const MAX_HEAD_BYTES = 4;
/** A length alone must not allocate memory: the buffer doubles as bytes arrive. */
const FIRST_BUFFER_BYTES = 4 * 1024;

export class MessageReader {
  #lengthBytes = 0;
  #length = 0;
  /** Set while a message is incomplete. */
  #buffer: Uint8Array | undefined;
  #filledBytes = 0;

  /** Bytes buffered for the incomplete message. */
  get heldBytes(): number {
    return this.#buffer?.byteLength ?? this.#lengthBytes;
  }

  /**
   * Yields each message that these bytes complete; an empty one is the end marker. Throws RangeError for a message that
   * is too long.
   */
  *read(bytes: Uint8Array): Generator<Uint8Array> {
    let at = 0;
    while (at < bytes.byteLength) {
      if (!this.#buffer) {
        if (!this.#readLength(bytes[at] as number)) {
          at += 1;
          continue;
        }
        at += 1;
        this.#buffer = Buffer.alloc(Math.min(this.#length, FIRST_BUFFER_BYTES));
      }
      const piece = bytes.subarray(at, at + this.#length - this.#filledBytes);
      at += piece.byteLength;
      const message = this.#fill(this.#buffer, piece);
      if (message) yield message;
    }
  }

  /** True for the last byte of a length. */
  #readLength(byte: number): boolean {
    this.#length += (byte & 0x7f) * 2 ** (7 * this.#lengthBytes);
    this.#lengthBytes += 1;
    const isLast = byte < 0x80;
    if (this.#length > MAX_MESSAGE_BYTES || (!isLast && this.#lengthBytes === MAX_HEAD_BYTES))
      throw new RangeError(`a message of ${isLast ? this.#length : 'too many'} bytes`);
    return isLast;
  }

  #fill(buffer: Uint8Array, piece: Uint8Array): Uint8Array | undefined {
    const neededBytes = this.#filledBytes + piece.byteLength;
    let target = buffer;
    if (neededBytes > buffer.byteLength) {
      target = Buffer.alloc(Math.min(this.#length, Math.max(neededBytes, 2 * buffer.byteLength)));
      target.set(buffer.subarray(0, this.#filledBytes));
    }
    target.set(piece, this.#filledBytes);
    this.#filledBytes = neededBytes;
    if (neededBytes < this.#length) {
      this.#buffer = target;
      return undefined;
    }
    this.#lengthBytes = 0;
    this.#length = 0;
    this.#filledBytes = 0;
    this.#buffer = undefined;
    return target;
  }
}
