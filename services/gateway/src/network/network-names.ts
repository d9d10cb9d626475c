// What callers call a model of the network: what its workers call it, unless somebody else has that name.

export interface NetworkName {
  readonly sha256: string;
  readonly name: string;
}

/** Without what an id should not have: `@` stands before a digest alone. */
const cleaned = (name: string): string => name.replaceAll(/[^\w.:/+-]+/g, '-').slice(0, 100);

/** Undefined: every name that it could have is taken. A pinned name is for the pinned file alone. */
export function networkName(
  { sha256, name }: NetworkName,
  pins: ReadonlyMap<string, string>,
  isTaken: (id: string) => boolean,
): string | undefined {
  const pinned = [...pins].find(([, digest]) => digest === sha256)?.[0];
  const wanted = pinned ?? cleaned(name);
  const isAnothers = (pins.get(wanted) ?? sha256) !== sha256;
  if (!isAnothers && !isTaken(wanted)) return wanted;
  const exact = `${wanted}@${sha256.slice(0, 12)}`;
  return isTaken(exact) ? undefined : exact;
}
