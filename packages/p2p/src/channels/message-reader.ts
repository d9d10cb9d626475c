// Bytes of a channel become messages: a length (unsigned varint), then so many bytes. A message that is not whole yet lies in
// one buffer: in how many pieces it comes costs nothing.

/** A longer message is no message: the channel is aborted before it is read. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** No length of a message that may be sent needs more. */
const MAX_HEAD_BYTES = 4;
/** A length alone must not make a host give the memory: the buffer doubles as bytes come. */
const FIRST_BUFFER_BYTES = 4 * 1024;

export class MessageReader {
  #lengthBytes = 0;
  #length = 0;
  /** Set while the bytes of a message are awaited. */
  #buffer: Uint8Array | undefined;
  #filledBytes = 0;

  /** What it keeps in memory for the message that is not whole. */
  get heldBytes(): number {
    return this.#buffer?.byteLength ?? this.#lengthBytes;
  }

  /** Gives each message that is whole with these bytes; an empty one is the last word. Throws RangeError where it is too long. */
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
      const whole = this.#fill(this.#buffer, piece);
      if (whole) yield whole;
    }
  }

  /** True where it was the last byte of a length. */
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
    let room = buffer;
    if (neededBytes > buffer.byteLength) {
      room = Buffer.alloc(Math.min(this.#length, Math.max(neededBytes, 2 * buffer.byteLength)));
      room.set(buffer.subarray(0, this.#filledBytes));
    }
    room.set(piece, this.#filledBytes);
    this.#filledBytes = neededBytes;
    if (neededBytes < this.#length) {
      this.#buffer = room;
      return undefined;
    }
    this.#lengthBytes = 0;
    this.#length = 0;
    this.#filledBytes = 0;
    this.#buffer = undefined;
    return room;
  }
}
