def connected(func):
    def wrapper(self, *args, **kwargs):
        device = self.stack.resource_by_refid(self.properties["device"])
        self.connection = device.get_connection()
        return func(self, *args, **kwargs)

    return wrapper
