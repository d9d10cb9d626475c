// Encrypts the parts of a stored answer with a key that is derived from the client's API key. The service stores only a hash
// of that, so that its database and its files do not reveal the text: it can be read while the client asks for it.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { randomPart } from '@strata/db';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class AnswerCipher {
  readonly #key: KeyObject;
  readonly #answer: string;

  /** `apiKey`: as the client sends it, with at least 128 random bits. */
  constructor(apiKey: string, answer: string) {
    // RFC 5869; another key for each answer.
    // Node makes a key object of plain bytes by trial and error, which takes longer than the encryption.
    const key = hkdfSync('sha256', createSecretKey(apiKey, 'utf8'), answer, 'strata stored answer', 32);
    this.#key = createSecretKey(new Uint8Array(key));
    this.#answer = answer;
  }

  /** Base64 of nonce, encrypted value and tag; only valid as the part with this number. */
  seal(number: number, value: Uint8Array): string {
    const nonce = randomPart(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(this.#context(number));
    return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]).toString('base64');
  }

  /** Throws for a part that was changed, or that is not this one. */
  open(number: number, part: string): Uint8Array {
    const bytes = Buffer.from(part, 'base64');
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(this.#context(number)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  }

  /** The same; undefined for a part of another key, as of an answer of before a rotation. */
  tryOpen(number: number, part: string): Uint8Array | undefined {
    try {
      return this.open(number, part);
    } catch {
      return undefined;
    }
  }

  #context(number: number): Uint8Array {
    return Buffer.from(`${this.#answer} ${number}`);
  }
}
