// A link to a stranger's site, with a stranger's words: shown as text, followed only over the web, and told nothing.
export function OutsideLink({ url, text }: { readonly url: string; readonly text: string }) {
  if (!/^https?:\/\//i.test(url)) return <span>{text}</span>;
  return (
    <a href={url} rel="noopener noreferrer nofollow" referrerPolicy="no-referrer">
      {text}
    </a>
  );
}
