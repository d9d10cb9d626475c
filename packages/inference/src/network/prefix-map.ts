// Which worker has read which beginnings: hashes of blocks of tokens, each over all that stands before it. Bounded, oldest out first.

export class PrefixMap {
  /** Remembers that a worker has read these tokens: the whole conversation, not its first message. */
  note(_peer: string, _modelSha256: string, _tokens: readonly number[]): void {}

  /** How many of the first tokens it is believed to have read; whole blocks. */
  cachedTokens(_peer: string, _modelSha256: string, _tokens: readonly number[]): number {
    return 0;
  }

  forget(_peer: string): void {}
}
