import type { EndpointDirectory, RegisteredEndpoint } from './endpoint-directory.ts';

/** The directory where all dispatches live in one process. */
export class InProcessEndpointDirectory implements EndpointDirectory {
  readonly #endpoints = new Map<string, RegisteredEndpoint>();
  readonly #listeners = new Set<() => void>();

  async publish(endpoint: RegisteredEndpoint): Promise<void> {
    this.#endpoints.set(endpoint.registration, { ...endpoint, labels: { ...endpoint.labels } });
    this.#changed();
  }

  async withdraw({ registration }: RegisteredEndpoint): Promise<void> {
    if (this.#endpoints.delete(registration)) this.#changed();
  }

  endpoints(): readonly RegisteredEndpoint[] {
    return [...this.#endpoints.values()];
  }

  watch(listener: () => void): () => void {
    // Wrapped, so that one listener given twice is called twice and taken away once.
    const watcher = () => listener();
    this.#listeners.add(watcher);
    return () => this.#listeners.delete(watcher);
  }

  #changed(): void {
    // A copy: a listener may take itself away.
    for (const watcher of [...this.#listeners]) watcher();
  }
}
