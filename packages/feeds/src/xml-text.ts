// Pieces of XML as `tidyXml` writes them.

/** Text of which nothing is markup or an entity. Entities cost the feed parser far more than a section of CDATA. */
export function formatVerbatim(text: string): string {
  return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

/** Attributes as they were read: entities in them stay for the feed parser to resolve. */
export function formatAttributes(attributes: Iterable<readonly [string, string]>): string {
  let text = '';
  for (const [name, value] of attributes) {
    text += ` ${name}="${value.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`;
  }
  return text;
}
