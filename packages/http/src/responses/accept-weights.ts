// Reads headers of content negotiation: Accept and Accept-Encoding (RFC 9110, 12.4.2).

/** The weight of each value in lower case: 1 without a weight, 0 for one that is not a number. */
export function weightsIn(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  return weights;
}
