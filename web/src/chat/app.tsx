// What surrounds both views: the name, the ways, the key, the theme.
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Loading, Notice } from '../ui/states.tsx';
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx';
import { ChatView } from './chat-view.tsx';
import { useKey } from './key.ts';
import { KeyForm } from './key-form.tsx';
import { onLink, useLocation } from './location.ts';
import { useSite } from './site.ts';
import { useOnline } from './use-online.ts';

const Machines = lazy(async () => ({ default: (await import('./machines/machines.tsx')).Machines }));

const WAYS = [
  ['Chat', '/'],
  ['Machines', '/machines'],
] as const;

export function App() {
  const { path, chat } = useLocation();
  const key = useKey();
  const [isKeyOpen, setKeyOpen] = useState(false);
  const keyButton = useRef<HTMLButtonElement>(null);
  const isOnline = useOnline();
  const explorerUrl = useSite()?.explorerUrl;
  useEffect(() => {
    document.title = path === '/machines' ? 'Machines · Strata' : 'Chat · Strata';
  }, [path]);
  // Another key is a reason to close the form.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the reason
  useEffect(() => {
    if (isKeyOpen) keyButton.current?.focus();
    setKeyOpen(false);
  }, [key]);
  return (
    <div className="chat-app">
      <a className="chat-skip" href="#content">
        Skip to the content
      </a>
      <header className="bar chat-top">
        <a href="/" className="brand chat-brand" onClick={onLink}>
          <img src="/favicon.svg" alt="" width="26" height="26" />
          Strata
        </a>
        <nav aria-label="Pages">
          {WAYS.map(([name, to]) => (
            <a key={to} href={to} className="chat-way" onClick={onLink} aria-current={path === to ? 'page' : undefined}>
              {name}
            </a>
          ))}
          {explorerUrl && (
            <a href={explorerUrl} className="chat-way">
              Explorer
            </a>
          )}
        </nav>
        <span className="chat-space" />
        <button
          ref={keyButton}
          className="button"
          type="button"
          aria-expanded={isKeyOpen}
          aria-controls="key-panel"
          onClick={() => setKeyOpen(!isKeyOpen)}
        >
          {key === undefined ? 'Set a key' : 'Key'}
        </button>
        <ThemeSwitch />
      </header>
      <div id="key-panel" className="chat-key-panel" hidden={!isKeyOpen}>
        {isKeyOpen && <KeyForm />}
      </div>
      <p className="chat-offline small" role="status">
        {!isOnline && 'You are offline. What is here can be read; what you ask waits until you are back.'}
      </p>
      <View path={path} chat={chat} />
    </div>
  );
}

function View({ path, chat }: { readonly path: string; readonly chat: string | null }) {
  if (path === '/machines') {
    return (
      <main id="content" tabIndex={-1} className="chat-machines">
        <Suspense fallback={<Loading lines={8} />}>
          <Machines />
        </Suspense>
      </main>
    );
  }
  if (path === '/') return <ChatView conversationId={chat} />;
  return (
    <main id="content" tabIndex={-1} className="chat-machines">
      <Notice
        title="There is no such page"
        actions={
          <a href="/" onClick={onLink}>
            To the chat
          </a>
        }
      />
    </main>
  );
}
