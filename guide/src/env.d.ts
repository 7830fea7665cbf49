/// <reference types="vite/client" />

/** The library as WebAssembly, in base64. */
declare module 'virtual:guide-wasm' {
  const base64: string;
  export default base64;
}
