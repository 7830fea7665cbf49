import 'vuetify/styles';

import { createApp } from 'vue';

import App from './App.vue';
import { notify } from './core/notice';
import { router } from './router';
import { vuetify } from './theme';

const app = createApp(App);
app.config.errorHandler = notify;
addEventListener('unhandledrejection', ({ reason }) => notify(reason));
app.use(router).use(vuetify).mount('#app');
